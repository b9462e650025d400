import { answerPage } from './answer-page.ts';

// The MCP App: a page that hosts with apps show next to an answer. Other hosts see the answer
// alone.

const uri = 'ui://calls/answer';

/** Tells hosts which page shows the answers of a tool. */
export const appMeta = { ui: { resourceUri: uri } } as const;

/** The page as a resource. It loads nothing from anywhere. */
export const appResource = {
  uri,
  name: 'answer',
  title: 'Chart and table',
  description: 'Shows an answer of analyze_calls as a chart and a table.',
  mimeType: 'text/html;profile=mcp-app',
  text: answerPage,
};
