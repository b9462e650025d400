// The least that the SDK's own class needs: one tool over stdio, as most servers are started.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'bare', version: '1.0.0' });
  const definition = { description: 'Echo', inputSchema: z.object({ text: z.string() }) };
  server.registerTool('echo', definition, async ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
});
