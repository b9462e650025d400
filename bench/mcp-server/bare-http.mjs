// Stateless Streamable HTTP the way the SDK's examples do it: a new server and transport for each request, JSON answers.
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const server = createServer(async (request, response) => {
  const mcp = new McpServer({ name: 'bare', version: '1.0.0' });
  mcp.registerTool('echo', { description: 'Echo', inputSchema: { text: z.string() } }, async ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  response.on('close', () => {
    transport.close();
    mcp.close();
  });
  await mcp.connect(transport);
  await transport.handleRequest(request, response);
});
server.listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}/mcp`));
