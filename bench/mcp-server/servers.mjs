// The servers that are compared, each as the command its package names.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;

/** The script of a package's bin. @param {string} name */
function binOf(name) {
  const dir = join(here, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  return join(dir, typeof bin === 'string' ? bin : Object.values(bin)[0]);
}

const ours = join(here, '../../packages/mcp-server/dist/bin.js');

export const bare = { name: 'bare SDK McpServer', args: [join(here, 'bare-stdio.mjs')], env: {} };
export const own = { name: 'call-attribution', args: [ours], env: {} };
export const peers = [
  {
    name: 'server-everything',
    args: [binOf('@modelcontextprotocol/server-everything'), 'stdio'],
    env: {},
  },
  {
    name: 'server-filesystem',
    args: [binOf('@modelcontextprotocol/server-filesystem'), here],
    env: {},
  },
  {
    name: 'notion',
    args: [binOf('@notionhq/notion-mcp-server')],
    env: { NOTION_TOKEN: 'ntn_none' },
  },
  {
    name: 'sentry',
    args: [binOf('@sentry/mcp-server'), '--access-token=none', '--host=localhost'],
    env: { SENTRY_DSN: '' },
  },
];
