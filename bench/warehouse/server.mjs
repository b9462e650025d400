// The list endpoint over a file of lines of JSON, in a process of its own so that its CPU is not counted: records in order
// of `date_added`, ranges of it in `q`.
import { createReadStream, openSync, readSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [path] = process.argv.slice(2);
/** A time as a number that sorts like it. A part of a string would keep the whole line in memory. */
const digits = (time) => Number(time.replaceAll(/\D/g, '').slice(0, 14));
const ends = [0];
const dates = [];
for await (const line of createInterface({
  input: createReadStream(path, { highWaterMark: 1 << 20 }),
  crlfDelay: Infinity,
})) {
  ends.push(ends.at(-1) + Buffer.byteLength(line) + 1);
  dates.push(digits(/"date_added":"([^"]*)"/.exec(line)[1]));
}
const file = openSync(path, 'r');

/** How many records come before a time. */
function before(moment, isInclusive) {
  const time = digits(moment);
  let [low, high] = [0, dates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (dates[middle] < time || (isInclusive && dates[middle] === time)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function bounds(filter) {
  const range = /date_added:([[{])(\*|[\d :-]+) TO (\*|[\d :-]+)([\]}])/.exec(filter ?? '');
  if (range === null) return [0, dates.length];
  const [, open, from, to, close] = range;
  return [
    from === '*' ? 0 : before(from, open === '{'),
    to === '*' ? dates.length : before(to, close === ']'),
  ];
}

function page(first, count) {
  if (count === 0) return Buffer.from('[]');
  const body = Buffer.allocUnsafe(ends[first + count] - ends[first] + 1);
  body[0] = 0x5b;
  readSync(file, body, 1, body.length - 1, ends[first]);
  for (let i = 1; i < count; i += 1) body[ends[first + i] - ends[first]] = 0x2c;
  body[body.length - 1] = 0x5d;
  return body;
}

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const rows = Number(url.searchParams.get('rows') ?? 100);
  const first = Number(url.searchParams.get('start') ?? 0) * rows;
  const [low, high] = bounds(url.searchParams.get('q'));
  const total = high - low;
  const count = Math.max(0, Math.min(rows, total - first));
  const body = page(low + first, count);
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': body.length,
    'content-range': count === 0 ? `*/${total}` : `${first + 1}-${first + count}/${total}`,
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
