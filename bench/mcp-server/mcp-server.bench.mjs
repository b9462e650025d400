// Tokens, start, throughput and memory of the MCP server and its peers, all in one run, in turns.
import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { startSandboxProcess } from '../../scripts/sandbox.mjs';
import { bare, own, peers } from './servers.mjs';
import { connect, rssMb } from './stdio.mjs';

const tokens = (value) => encode(typeof value === 'string' ? value : JSON.stringify(value)).length;
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const say = (text, figure, limit, held) =>
  console.log(
    `${text.padEnd(58)} ${String(figure).padStart(9)}  ${limit === undefined ? '' : `limit ${limit}: ${held ? 'held' : 'not held'}`}`,
  );

console.log('\n## Tokens of tools/list (o200k_base)');
for (const server of [bare, own, ...peers]) {
  const client = await connect(server);
  const { result } = await client.ask({ id: 1, method: 'tools/list' });
  const used = tokens({ tools: result.tools });
  const isOwn = server === own;
  say(`${server.name}, ${result.tools.length} tools`, used, isOwn ? 2300 : undefined, used <= 2300);
  await client.close();
}

console.log('\n## Tokens per record of list_calls, default fields');
const sandbox = await startSandboxProcess();
{
  const client = await connect({ ...own, env: sandbox.env });
  const headers = {
    access_key: sandbox.env.CALLS_ACCESS_KEY,
    secret_key: sandbox.env.CALLS_SECRET_KEY,
  };
  for (const rows of [25, 100]) {
    const call = { name: 'list_calls', arguments: { rows, from: '2026-08-01', to: '2026-10-31' } };
    const { result } = await client.ask({ id: rows, method: 'tools/call', params: call });
    const got = result.structuredContent.rows.length;
    const each = tokens(result.content[0].text) / got;
    const q = encodeURIComponent('date_added:[2026-08-01 00:00:00 TO 2026-11-01 00:00:00}');
    const raw = await (
      await fetch(`${sandbox.env.CALLS_BASE_URL}/v3/user/bid-management?rows=${rows}&q=${q}`, {
        headers,
      })
    ).json();
    say(
      `whole result of ${got} rows, per record`,
      each.toFixed(1),
      rows === 100 ? 55 : undefined,
      each <= 55,
    );
    say(
      'pretty JSON of the same records, per record',
      (tokens(JSON.stringify(raw, null, 2)) / raw.length).toFixed(1),
    );
  }
  const all = await client.ask({
    id: 9,
    method: 'tools/call',
    params: { name: 'list_calls', arguments: { fields: 'all', rows: 500 } },
  });
  const used = tokens(all.result.content[0].text);
  say('500 rows of all fields asked, tokens of the result', used, 8000, used <= 8000);
  await client.close();
}
await sandbox.close();

console.log('\n## Start to the response to initialize, median of 15 rounds in turns');
const starts = new Map([bare, own, ...peers].map((server) => [server, []]));
for (let round = 0; round < 15; round += 1) {
  for (const [server, list] of starts) {
    const client = await connect(server);
    list.push(client.start);
    await client.close();
  }
}
const wall = (server) => median(starts.get(server).map((each) => each.wallMs));
const cpu = (server) => median(starts.get(server).map((each) => each.cpuMs));
for (const server of starts.keys()) {
  const ratio = wall(server) / wall(bare);
  const cpuRatio = cpu(server) / cpu(bare);
  const isOwn = server === own;
  say(
    `${server.name}: wall ${wall(server).toFixed(0)} ms, x bare`,
    ratio.toFixed(2),
    isOwn ? 2.2 : undefined,
    ratio <= 2.2,
  );
  say(`${server.name}: CPU ${cpu(server).toFixed(0)} ms, x bare`, cpuRatio.toFixed(2));
}

console.log('\n## Memory, idle for a second after initialize');
for (const server of [bare, own, ...peers]) {
  const list = [];
  for (let round = 0; round < 3; round += 1) {
    const client = await connect(server);
    await wait(1000);
    list.push(rssMb(client.pid));
    await client.close();
  }
  const isOwn = server === own;
  say(`${server.name}, MB`, median(list).toFixed(1), isOwn ? 60 : undefined, median(list) <= 60);
}

console.log(
  '\n## Stateless HTTP, calls per second of a tool that does not read the API, 32 in flight, 5 rounds in turns',
);
async function startHttp(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const url = await new Promise((resolve) =>
    createInterface({ input: child.stderr }).on('line', (line) => {
      const found = /http:\S+\/mcp/.exec(line)?.[0];
      if (found) resolve(found);
    }),
  );
  return {
    url,
    close: () => new Promise((resolve) => child.once('exit', resolve).kill('SIGTERM')),
  };
}

function post(agent, url, body, headers) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => (text.includes('"result"') ? resolve() : reject(new Error(text))));
    });
    sent.on('error', reject).end(body);
  });
}

async function load({ url, call, headers }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const body = JSON.stringify(call);
  const all = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  const started = performance.now();
  let left = 3000;

  const worker = async () => {
    while (left-- > 0) await post(agent, url, body, all);
  };

  await Promise.all(Array.from({ length: 32 }, worker));
  agent.destroy();
  return 3000 / ((performance.now() - started) / 1000);
}

const sdk = await startHttp([new URL('./sdk-http.mjs', import.meta.url).pathname]);
const ours = await startHttp([...own.args, '--http', '0']);
// Wrong arguments are answered without a request to the API.
const check = { name: 'list_calls', arguments: { from: '2026-09-31' } };
const modern = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': modern,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const rpc = (params) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
const modernCall = {
  call: rpc({ ...check, _meta: meta }),
  headers: { 'mcp-protocol-version': modern, 'mcp-method': 'tools/call', 'mcp-name': 'list_calls' },
};
const oldCall = { call: rpc(check), headers: {} };
// Each of ours after what it is compared with.
const targets = [
  { name: 'the same tools by the SDK alone, 2025-11-25', url: sdk.url, ...oldCall },
  { name: 'call-attribution, 2025-11-25', url: ours.url, ...oldCall },
  { name: 'the same tools by the SDK alone, 2026-07-28', url: sdk.url, ...modernCall },
  { name: 'call-attribution, 2026-07-28', url: ours.url, ...modernCall },
];
for (const target of targets) await load(target);
const rates = targets.map(() => []);
for (let round = 0; round < 5; round += 1) {
  for (const [i, target] of targets.entries()) rates[i].push(await load(target));
}
for (const [i, target] of targets.entries()) {
  const isOwn = i % 2 === 1;
  const ratio = median(rates[i]) / median(rates[isOwn ? i - 1 : i]);
  say(
    `${target.name}: ${median(rates[i]).toFixed(0)} calls/s, x SDK`,
    ratio.toFixed(2),
    isOwn ? 1 : undefined,
    ratio >= 1,
  );
}
await Promise.all([sdk.close(), ours.close()]);
