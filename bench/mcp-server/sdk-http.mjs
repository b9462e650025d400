// The same tools as the SDK serves them by itself: registered with their schemas, behind its own
// handler and its adapter.
import { createServer as listen } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { createClient } from '../../packages/core/dist/index.js';
import { createServer, tools } from '../../packages/mcp-server/dist/index.js';

const ours = createServer(() => createClient({ baseUrl: 'http://127.0.0.1:9' }));
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'calls', version: '1' }, { capabilities: { tools: {} } });
  for (const { name, title, description, input, output } of tools) {
    const definition = { title, description, inputSchema: input, outputSchema: output };
    server.registerTool(name, definition, (args) => ours.call(name, args));
  }
  return server;
});
const node = toNodeHandler(handler);
const listener = listen((request, response) => void node(request, response));
listener.listen(0, '127.0.0.1', () =>
  console.error(`http://127.0.0.1:${listener.address().port}/mcp`),
);
