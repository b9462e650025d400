// CPU of the client process for one request of two records: core, bare undici.request, the built-in
// fetch, node:http.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { bearerToken, createClient } from '@call-attribution/core';
import { Agent, request } from 'undici';

const rounds = Number(process.env.ROUNDS ?? 15);
const batch = 1500;
const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

const server = fork(new URL('server.mjs', import.meta.url));
const [port] = await once(server, 'message');
const baseUrl = `http://127.0.0.1:${port}`;
const url = `${baseUrl}/v3/user/bid-management?rows=2`;
const headers = {
  authorization: 'Bearer t',
  accept: 'application/json',
  'content-type': 'application/json',
};
const client = createClient({ baseUrl, auth: bearerToken('t'), compress: false });
const agent = new Agent();

const ways = {
  'undici.request + json()': async () =>
    (await request(url, { headers, dispatcher: agent })).body.json(),
  'core listCalls': () => client.listCalls({ rows: 2 }),
  'built-in fetch + json()': async () => (await fetch(url, { headers })).json(),
};

const spent = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
for (let round = 0; round < rounds; round += 1)
  for (const [way, run] of Object.entries(ways)) {
    globalThis.gc?.();
    const before = process.cpuUsage();
    for (let i = 0; i < batch; i += 1) await run();
    const { user, system } = process.cpuUsage(before);
    if (round >= 2) spent[way].push((user + system) / batch);
  }

const base = median(spent['undici.request + json()']);
console.log(
  `2 records a request, ${batch} requests one after another, ${rounds} interleaved rounds, median`,
);
for (const [way, list] of Object.entries(spent)) {
  const one = median(list);
  console.log(
    `  ${way.padEnd(26)} ${one.toFixed(1).padStart(7)} µs CPU  ${(one / base).toFixed(2)} x`,
  );
}
const ours = median(spent['core listCalls']);
console.log(
  `  core against built-in fetch: ${(ours / median(spent['built-in fetch + json()'])).toFixed(2)} x`,
);
await client.close();
await agent.close();
server.disconnect();
server.kill();
