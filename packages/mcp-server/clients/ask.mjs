// Asks the server as a host would that is built on one of these clients: `ask.mjs CLIENT TARGET`,
// with the target as JSON: { command, args, env } for stdio, { url, token } for HTTP. Prints the
// names of the tools, a result and an error as JSON.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const good = ['count_calls', { calls: 'all' }];
const wrong = ['list_calls', { from: '2026-09-31' }];
const headersOf = ({ token }) => ({ authorization: `Bearer ${token}` });
/** The program of a package. */
const program = (name, file) =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);

/** A client of the SDK, over a transport. */
async function withSdk(transport, options) {
  const { Client } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'drill', version: '1' }, options);
  await client.connect(transport);
  const call = ([name, args]) => client.callTool({ name, arguments: args });
  const { tools } = await client.listTools();
  const found = [tools.map(({ name }) => name), await call(good), await call(wrong)];
  await client.close();
  return found;
}

async function sdk(target, options) {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const transport =
    'url' in target
      ? new StreamableHTTPClientTransport(new URL(target.url), {
          requestInit: { headers: headersOf(target) },
        })
      : new StdioClientTransport(target);
  return withSdk(transport, options);
}

const clients = {
  '@modelcontextprotocol/client': (target) => sdk(target),

  '@modelcontextprotocol/client, 2026-07-28': (target) =>
    sdk(target, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),

  async '@ai-sdk/mcp'(target) {
    const { createMCPClient } = await import('@ai-sdk/mcp');
    const { Experimental_StdioMCPTransport } = await import('@ai-sdk/mcp/mcp-stdio');
    const transport =
      'url' in target
        ? { type: 'http', url: target.url, headers: headersOf(target) }
        : new Experimental_StdioMCPTransport(target);
    const client = await createMCPClient({ transport });
    const tools = await client.tools();
    const call = ([name, args]) => tools[name].execute(args, { messages: [], toolCallId: '1' });
    const found = [Object.keys(tools), await call(good), await call(wrong).catch(String)];
    await client.close();
    return found;
  },

  async '@langchain/mcp-adapters'(target) {
    const { MultiServerMCPClient } = await import('@langchain/mcp-adapters');
    const server =
      'url' in target
        ? { transport: 'http', url: target.url, headers: headersOf(target) }
        : { transport: 'stdio', ...target };
    const client = new MultiServerMCPClient({ mcpServers: { calls: server } });
    const tools = await client.getTools();
    const call = ([name, args]) => tools.find((tool) => tool.name.endsWith(name)).invoke(args);
    const found = [
      tools.map(({ name }) => name),
      await call(good),
      await call(wrong).catch(String),
    ];
    await client.close();
    return found;
  },

  async '@openai/agents'(target) {
    const { getAllMcpTools, MCPServerStdio, MCPServerStreamableHttp, withTrace } = await import(
      '@openai/agents'
    );
    const server =
      'url' in target
        ? new MCPServerStreamableHttp({
            url: target.url,
            requestInit: { headers: headersOf(target) },
          })
        : new MCPServerStdio({ command: target.command, args: target.args, env: target.env });
    await server.connect();

    // Every schema in the strict form that the API of this vendor wants.
    const tools = await withTrace('drill', () =>
      getAllMcpTools({ mcpServers: [server], convertSchemasToStrict: true }),
    );
    const found = [
      tools.map(({ name }) => name),
      await server.callTool(...good),
      await server.callTool(...wrong),
    ];
    await server.close();
    return found;
  },

  async '@modelcontextprotocol/inspector'(target) {
    const bin = program('@modelcontextprotocol/inspector', 'clients/launcher/build/index.js');
    const to =
      'url' in target
        ? [target.url, '--transport', 'http', '--header', `Authorization: Bearer ${target.token}`]
        : [
            ...Object.entries(target.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
            target.command,
            ...target.args,
          ];

    const run = (...args) => {
      const all = [bin, '--cli', ...to, '--format', 'json', '--method', ...args];
      try {
        return execFileSync(process.execPath, all, {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        });
      } catch ({ stdout, stderr }) {
        return stdout + stderr;
      }
    };

    const call = ([name, args]) =>
      run(
        'tools/call',
        '--tool-name',
        name,
        ...Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]),
      );

    const listed = run('tools/list');
    return [
      [...listed.matchAll(/"name": *"(\w+)"/g)].map(([, name]) => name),
      call(good),
      call(wrong),
    ];
  },

  /** A bridge for hosts that only start programs. */
  async 'mcp-remote'(target) {
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const args = [
      program('mcp-remote', 'dist/proxy.js'),
      target.url,
      '--transport',
      'http-only',
      '--allow-http',
    ];
    return withSdk(
      new StdioClientTransport({
        command: process.execPath,
        args: [...args, '--header', `Authorization: Bearer ${target.token}`],
        env: { ...process.env },
      }),
    );
  },
};

const [name, target] = process.argv.slice(2);
const [tools, result, error] = await clients[name](JSON.parse(target));
const line = JSON.stringify({
  tools,
  result: JSON.stringify(result),
  error: JSON.stringify(error),
});
// Clients keep timers and sockets.
process.stdout.write(`${line}\n`, () => process.exit(0));
