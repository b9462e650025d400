// How long the first answer takes: from the start of the server, with nothing loaded, to exact
// numbers about last month, of an account with 1,400 calls a day whose API takes 100 ms for a
// request. `node first-answer.bench.mjs`; needs the built packages.
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const packages = new URL('../../packages/', import.meta.url);
const perDay = 1400;
const days = 90;
/** Rows of a page that the API gives at most, and the seconds that the first answer may take. */
const cases = [
  { rows: 1000, limit: 6 },
  { rows: 250, limit: 10 },
];

if (process.argv[2] === 'sandbox') {
  const { startSandbox } = await import(new URL('sandbox/dist/index.js', packages).href);
  const faults = { '*': `latency=100ms; clamp=${process.argv[3]}` };
  const { url, accounts } = await startSandbox({ records: perDay * days, days, faults });
  process.send?.({ url, account: accounts[0] });
} else {
  console.log(`\n## First answer about last month, ${perDay} calls a day, 100 ms a request`);
  for (const { rows, limit } of cases) await measure(rows, limit);
}

/** @param {number} rows @param {number} limit */
async function measure(rows, limit) {
  const sandbox = fork(import.meta.filename, ['sandbox', String(rows)]);

  /** @type {{ url: string, account: { accessKey: string, secretKey: string } }} */
  const { url, account } = await new Promise((resolve) => sandbox.once('message', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'first-answer-'));
  const from = performance.now();
  const server = spawn(process.execPath, [new URL('mcp-server/dist/bin.js', packages).pathname], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_DATA_HOME: folder,
      CALLS_BASE_URL: url,
      CALLS_ACCESS_KEY: account.accessKey,
      CALLS_SECRET_KEY: account.secretKey,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  let id = 0;

  /** @param {string} method @param {object} params */
  const ask = async (method, params) => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
    for (;;) {
      const message = JSON.parse(String((await lines.next()).value));
      if (message.id === id) return message.result;
    }
  };

  const clientInfo = { name: 'bench', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  const question = { period: 'last month', group_by: ['campaign'], measures: ['calls', 'callers'] };
  let asked = 0;
  let answer;
  do {
    asked += 1;
    answer = (await ask('tools/call', { name: 'analyze_calls', arguments: question }))
      .structuredContent;
  } while (answer?.calls === undefined && asked < 10);

  const seconds = (performance.now() - from) / 1000;

  // What a busy machine does not change: how long the server itself has computed.
  const [, , ...fields] = readFileSync(`/proc/${server.pid}/stat`, 'utf8')
    .replace(/\(.*\)/, '')
    .split(' ');
  const cpu = (Number(fields[11]) + Number(fields[12])) / 100;
  const held = seconds <= limit ? 'held' : 'not held';
  console.log(
    `${rows} rows a page: ${seconds.toFixed(1)} s for ${answer?.calls} calls, asked ${asked} times, CPU ${cpu.toFixed(1)} s; limit ${limit} s: ${held}`,
  );
  server.stdin.end();
  await new Promise((resolve) => server.once('exit', resolve));
  sandbox.kill();
  rmSync(folder, { recursive: true });
}
