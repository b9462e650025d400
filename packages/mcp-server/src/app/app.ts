import { readFile } from 'node:fs/promises';
import { propertyOf } from '@call-attribution/core/errors';

// The MCP App: a page that hosts with apps show next to an answer. Other hosts see the answer
// alone.

const uri = 'ui://calls/answer';

/** Tells hosts which page shows the answers of a tool. */
export const appMeta = { ui: { resourceUri: uri } } as const;

/** Where the build puts the page: next to this file. */
const built = new URL('./answer.html', import.meta.url);

const missing =
  '<!doctype html><title>Calls</title><p>There is no chart here: the page is made when this package is built. ' +
  'A program that bundles the package needs its file dist/app/answer.html next to the bundle.</p>';

async function answerPage(): Promise<string> {
  try {
    return await readFile(built, 'utf8');
  } catch (error) {
    if (propertyOf(error, 'code') !== 'ENOENT') throw error;
    return missing;
  }
}

/** The page as a resource. It loads nothing from anywhere. */
export const appResource = {
  uri,
  name: 'answer',
  title: 'Chart and table',
  description: 'Shows an answer of analyze_calls as a chart and a table.',
  mimeType: 'text/html;profile=mcp-app',
  text: answerPage,
};
