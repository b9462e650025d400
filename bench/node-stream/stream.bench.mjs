// Reads, memory, waiting and CSV against the named peers, and beside what they should be. Writes
// results.md.
// `node stream.bench.mjs [rounds]`, run by `pnpm bench node-stream`.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { cpuRounds } from './cpu.mjs';
import { csvRounds } from './csv.mjs';
import { readers } from './readers.mjs';
import { bytesPerRecord } from './records.mjs';
import { latency, memory, slowConsumer } from './waiting.mjs';

const rounds = Number(process.argv[2] ?? 5);
const prefetch = 4;

const csv = await csvRounds(rounds);
const requests = [await slowConsumer(1), await slowConsumer(4), await slowConsumer(8)];
const ahead = await latency(Math.min(3, rounds), 1000);
const aheadSmall = await latency(Math.min(3, rounds), 250);
const [small, large] = await memory();
// Whoever holds several pages ahead pays for it, since they outlive what is collected often: the
// raw loop, which holds one page, is compared with reads that hold one ahead, and the peers that
// make several requests at a time with reads that do the same.
const ours = Object.keys(readers).filter((name) => name.startsWith('ours'));
const oneAhead = (name) => `${name}, one page ahead`;
const reads = await cpuRounds(
  [
    ...Object.keys(readers).map((reader) => ({ name: reader, reader, prefetch })),
    ...ours.map((reader) => ({ name: oneAhead(reader), reader, prefetch: 1 })),
  ],
  rounds,
);
const ratioOf = (name, list = reads) => list.find((row) => row.name === name).ratio;
const ratioTo = (name, other) => reads.find((row) => row.name === name).ratioTo(other);
const severalAtOnce = 'p-map (pMapIterable)';

const limits = [
  [
    'CPU per record, `createCallStream` with `for await`, one page ahead, to the raw loop',
    ratioOf(oneAhead('ours: for await')),
    '<=',
    1.05,
  ],
  [
    'the same, 4 pages ahead, to p-map with 4 requests',
    ratioTo('ours: for await', severalAtOnce),
    '<=',
    1.05,
  ],
  [
    'the same in a `pipeline`, one page ahead, to the raw loop',
    ratioOf(oneAhead('ours: pipeline')),
    '<=',
    1.1,
  ],
  [
    '`pages()` of records to the same by records',
    ratioTo('ours: pages', 'ours: for await'),
    '<=',
    1.1,
  ],
  [
    'CPU per record, `createCallByteStream`, one page ahead, to the raw loop',
    ratioOf(oneAhead('ours: bytes')),
    '<=',
    0.43,
  ],
  [
    'the same, 4 pages ahead, to p-map with 4 requests',
    ratioTo('ours: bytes', severalAtOnce),
    '<=',
    0.4,
  ],
  ['`pages()` of lines to the bytes', ratioTo('ours: pages of lines', 'ours: bytes'), '<=', 1.1],
  [
    'wall time of 60 pages of 1000 at 100 ms latency, raw loop to 8 pages ahead',
    ahead.raw,
    '>=',
    3,
  ],
  [
    'wall time of 60 pages of 250 at 100 ms latency, raw loop to 8 pages ahead',
    aheadSmall.raw,
    '>=',
    3,
  ],
  ['largest RSS, 1,000,000 records to 200,000', large / small, '<=', 1.2],
  ['CPU per record, `toCsv` to csv-stringify, both as streams', ratioOf('toCsv', csv), '<=', 0.7],
  ['requests of a consumer that takes 30 records slowly, prefetch 4', requests[1], '<=', 5],
  ['the same, prefetch 8', requests[2], '<=', 9],
];
const held = limits.map(([, value, sign, limit]) =>
  sign === '<=' ? value <= limit : value >= limit,
);

const figure = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(2));
const text = `<!-- Made by \`pnpm bench node-stream\`. Do not edit. -->
# node-stream: last results

${new Date().toISOString().slice(0, 10)}, Node ${process.version.slice(1)}, ${cpus().length} x ${cpus()[0].model.trim()}. \`pnpm bench node-stream\`, ${rounds} interleaved rounds, load average ${loadavg()[2].toFixed(1)}.
Records of ${Math.round(bytesPerRecord)} bytes, two in five with text outside ASCII; pages of 1000.
Each reader runs alone in a process, after one run to warm up. Medians of ratios within a round.

## Limits

| what | measured | limit | |
|---|---|---|---|
${limits.map(([name, value, sign, limit], i) => `| ${name} | ${figure(value)} | ${sign} ${limit} | ${held[i] ? 'held' : 'not held'} |`).join('\n')}

## Reading 100,000 records

| reader | CPU us/record | RSS MB | CPU to raw |
|---|---|---|---|
${reads.map(({ name, cpu, rss, ratio }) => `| ${name} | ${cpu.toFixed(2)} | ${Math.round(rss)} | ${ratio.toFixed(2)} |`).join('\n')}

Only "ours" checks records, proves that none is missing, and can be resumed. Readers with several requests at once use ${prefetch}.

## CSV from parsed records

| encoder | CPU us/record | to csv-stringify |
|---|---|---|
${csv.map(({ name, cpu, ratio }) => `| ${name} | ${cpu.toFixed(2)} | ${ratio.toFixed(2)} |`).join('\n')}

A slow consumer with a prefetch of one page causes ${requests[0]} requests. One page ahead instead of eight takes ${figure(ahead.own)} times as long with pages of 1000, ${figure(aheadSmall.own)} times with pages of 250.

RSS: ${Math.round(small)} MB at 200,000 records, ${Math.round(large)} MB at 1,000,000.
`;
writeFileSync(join(import.meta.dirname, 'results.md'), text);
console.log(text);
