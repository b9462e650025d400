// One CSV encoder over the same parsed records, alone in its process: `node csv-once.mjs <name>`.
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fields } from '@call-attribution/core';
import { toCsv } from '@call-attribution/node-stream/encoders';
import { stringify } from 'csv-stringify';
import { pageOf } from './records.mjs';

const records = JSON.parse(pageOf(0, 1000).toString());
const columns = fields.map(({ name }) => name);
const encoders = {
  toCsv: () => toCsv(),
  'toCsv, safe': () => toCsv({ safe: true }),
  'csv-stringify': () => stringify({ header: true, columns, record_delimiter: 'windows' }),
  none: null,
};

function* repeated(times) {
  for (let i = 0; i < times; i += 1) yield* records;
}

async function encode(make, times) {
  let bytes = 0;
  const sink = new Writable({
    objectMode: make === null,
    write(chunk, _, done) {
      bytes += chunk.length ?? 0;
      done();
    },
  });
  const source = Readable.from(repeated(times), { highWaterMark: 256 });
  await (make === null ? pipeline(source, sink) : pipeline(source, make(), sink));
  return bytes;
}

const make = encoders[process.argv[2]];
await encode(make, 5);
const before = process.cpuUsage();
const bytes = await encode(make, 40);
const { user, system } = process.cpuUsage(before);
process.send({ cpu: (user + system) / 40_000, bytes });
process.disconnect();
