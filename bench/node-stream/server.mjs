// The list endpoint and nothing else, in a process of its own so that its CPU is not counted: `n`
// records in order of
// `date_added`, ranges of it in `q`, a latency per answer, and counters at /stats.
import { createServer } from 'node:http';
import { countBefore, pageOf } from './records.mjs';

const n = Number(process.argv[2]);
const latency = Number(process.argv[3] ?? 0);
// Under /warm lie fewer records, so that a reader can be warmed up before it is measured.
const warm = Math.min(n, 20_000);
const cache = new Map();
const stats = { requests: 0, inFlight: 0, mostInFlight: 0 };

function bounds(filter, n) {
  const range = /date_added:([[{])(\*|[\d :-]+) TO (\*|[\d :-]+)([\]}])/.exec(filter ?? '');
  if (range === null) return [0, n];
  const [, open, from, to, close] = range;
  return [
    from === '*' ? 0 : countBefore(from, n, open === '{'),
    to === '*' ? n : countBefore(to, n, close === ']'),
  ];
}

function page(first, count) {
  const key = `${first}+${count}`;
  let body = cache.get(key);
  if (body === undefined) {
    body = pageOf(first, count);
    if (cache.size > 300) cache.clear();
    cache.set(key, body);
  }

  return body;
}

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  if (url.pathname === '/stats') {
    response.end(JSON.stringify(stats));
    Object.assign(stats, { requests: 0, mostInFlight: 0 });
    return;
  }

  stats.requests += 1;
  stats.inFlight += 1;
  stats.mostInFlight = Math.max(stats.mostInFlight, stats.inFlight);
  response.once('close', () => {
    stats.inFlight -= 1;
  });
  const rows = Number(url.searchParams.get('rows') ?? 100);
  const start = Number(url.searchParams.get('start') ?? 0);
  const [low, high] = bounds(
    url.searchParams.get('q'),
    url.pathname.startsWith('/warm/') ? warm : n,
  );
  const total = high - low;
  const first = start * rows;
  const count = Math.max(0, Math.min(rows, total - first));
  const next = new URL(url);
  next.searchParams.set('start', String(start + 1));

  const send = () => {
    const body = page(low + first, count);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': body.length,
      'content-range': count === 0 ? `*/${total}` : `${first + 1}-${first + count}/${total}`,
      ...(first + count < total
        ? { link: `<http://${request.headers.host}${next.pathname}${next.search}>; rel="next"` }
        : {}),
    });
    response.end(body);
  };

  if (latency > 0) setTimeout(send, latency);
  else send();
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
