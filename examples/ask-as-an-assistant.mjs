// An assistant connects over stdio, lists the tools, counts, analyzes and lists calls, and never
// sees a phone number.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '@call-attribution/sandbox';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const sandbox = await startSandbox({ records: 800 });
const [account] = sandbox.accounts;
assert(account);
const assistant = new Client({ name: 'example', version: '1.0.0' });

try {
  await assistant.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [fileURLToPath(new URL('../packages/mcp-server/dist/bin.js', import.meta.url))],
      env: {
        CALLS_BASE_URL: sandbox.url,
        CALLS_LEGACY_BASE_URL: sandbox.url,
        CALLS_ACCESS_KEY: account.accessKey,
        CALLS_SECRET_KEY: account.secretKey,
      },
    }),
  );
  const { tools } = await assistant.listTools();
  console.log(`tools: ${tools.map(({ name }) => name).join(', ')}`);

  /** @param {string} name @param {Record<string, unknown>} args */
  const ask = async (name, args) => {
    const result = await assistant.callTool({ name, arguments: args });
    assert.notEqual(result.isError, true, JSON.stringify(result.content));
    return result;
  };
  const counted = await ask('count_calls', { calls: 'all' });
  assert.match(JSON.stringify(counted.structuredContent), /800/);
  await ask('analyze_calls', { group_by: ['channel'] });

  const list = JSON.stringify(await ask('list_calls', { fields: ['sid', 'ani', 'city'] }));
  assert.doesNotMatch(list, /\b1?\d{3}555\d{4}\b/, 'phone numbers are masked');
  console.log(`a list of ${list.length} characters without a phone number`);
} finally {
  await assistant.close();
  await sandbox.close();
}
