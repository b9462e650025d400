// Four workers with 16 slots each, as processes over NATS, on three credentials of 300 requests a minute: what the server counts. It
// answers 429 above that. Takes 80 seconds.
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { limit } from '../figures.mjs';
import { countBefore, pageOf } from '../node-stream/records.mjs';
import { end, hasNats, planned, start } from './processes.mjs';

const perMinute = 300;
const records = 500_000;
const times = new Map();
let refused = 0;

/** How many of these were within a minute before `now`. */
const within = (list, now) => list.filter((time) => time > now - 60_000 && time <= now).length;

const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url, 'http://localhost');
  const key = request.headers.access_key ?? request.headers.authorization ?? '';
  const list = times.get(key) ?? [];
  times.set(key, list);
  const now = Date.now();
  list.push(now);
  if (within(list, now) > perMinute) {
    refused += 1;
    response.writeHead(429, { 'retry-after': '1' });
    return response.end();
  }
  const [, open, from, to, close] =
    /date_added:([[{])(\*|[\d :-]+) TO (\*|[\d :-]+)([\]}])/.exec(searchParams.get('q') ?? '') ?? [];
  const low = from === undefined || from === '*' ? 0 : countBefore(from, records, open === '{');
  const high = to === undefined || to === '*' ? records : countBefore(to, records, close === ']');
  const rows = Number(searchParams.get('rows') ?? 100);
  const first = Number(searchParams.get('start') ?? 0) * rows;
  const count = Math.max(0, Math.min(rows, high - low - first));
  const body = pageOf(low + first, count);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-range': count === 0 ? `*/${high - low}` : `${first + 1}-${first + count}/${high - low}`,
  });
  setTimeout(() => response.end(body), 100);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;

try {
  if (!hasNats) process.exit();
  const job = await planned({ url }, 3, 20_000, 'ndjson.gz', { requestsPerMinute: perMinute, lanes: 8 });
  const workers = Array.from({ length: 4 }, () => start(job, 16));
  await delay(80_000);
  for (const { child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.map(({ gone }) => gone));
  await job.board.close();
  const most = Math.max(
    ...[...times.values()].map((list) => Math.max(...list.map((time) => within(list, time)))),
  );
  const all = [...times.values()].reduce((sum, list) => sum + list.length, 0);
  // The last minute, in which all were under way.
  const used = [...times.values()].map((list) => within(list, list.at(-1)) / perMinute);
  console.log(`${all} requests with ${times.size} credentials, ${refused} answered 429`);
  limit('most requests of a credential in 60 s', most, { most: perMinute });
  limit('of all requests answered 429, percent', (refused * 100) / all, { most: 0.2 });
  limit('use of the limit in the last minute, percent', Math.min(...used) * 100, { least: 85 });
} finally {
  server.closeAllConnections();
  server.close();
  await end();
}
