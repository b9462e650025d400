import { answerPage } from './answer-page.ts';

// The MCP App: a page that hosts with apps show next to an answer. Other hosts see the answer alone.

const uri = 'ui://calls/answer';

/** Tells hosts which page shows the answers of a tool. */
export const appMeta = { ui: { resourceUri: uri } } as const;

const described = {
  uri,
  name: 'answer',
  title: 'Chart and table',
  description: 'Shows an answer of analyze_calls as a chart and a table that can be sorted.',
  mimeType: 'text/html;profile=mcp-app',
};

/** The page as a resource, as it is listed and as it is read. It loads nothing from anywhere. */
export const appResource = {
  uri,
  listed: described,
  contents: [
    { uri, mimeType: described.mimeType, text: answerPage, _meta: { ui: { prefersBorder: true } } },
  ] as const,
};
