import { expect } from 'vitest';
import { type CallsMcpServer, callTool, tools } from '../../src/index.ts';

/** The data of a tool result. */
// biome-ignore-start lint/suspicious/noExplicitAny: each test knows the shape of its own answer.
export type Content = Record<string, any> & { readonly rows: any[][] };
// biome-ignore-end lint/suspicious/noExplicitAny: see above.

/** Calls a tool, which must succeed, and returns its data. */
export async function ask(
  server: CallsMcpServer,
  name: string,
  args: object = {},
): Promise<Content> {
  const { structuredContent, content } = await callTool(server, name, { ...args });
  expect(structuredContent, content[0]?.text).toBeDefined();
  return structuredContent as Content;
}

/** The tools of a server that has no folder for files. */
export const toolsThatRead = tools.filter(({ name }) => name !== 'save_csv');
