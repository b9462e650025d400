// A process that reads a query into a file and may be killed at any moment: `node reader.mjs <mode>
// <url> <folder>`.
import {
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { apiKeys, type Call, createClient } from '@call-attribution/core';
import { toNdjson } from '../../src/encoders/index.ts';
import { type SyncState, syncInto } from '../../src/index.ts';
import { dedupe } from '../../src/operators/dedupe.ts';
import { mapCalls } from '../../src/operators/map-calls.ts';
import { createCallByteStream, createCallStream } from '../../src/read.ts';
import { fileSink } from '../../src/sinks/file-sink.ts';

const [mode = '', url = '', folder = ''] = process.argv.slice(2);
const log = join(folder, 'log.ndjson');
const placeFile = join(folder, 'place.json');
const client = createClient({ baseUrl: url, auth: apiKeys('key', 'secret') });
const options = { rows: 20, prefetch: 3 };

function load<T>(): T | null {
  return existsSync(placeFile) ? JSON.parse(readFileSync(placeFile, 'utf8')) : null;
}

function save(place: unknown): void {
  writeFileSync(`${placeFile}.new`, JSON.stringify(place));
  renameSync(`${placeFile}.new`, placeFile);
}

const modes: Record<string, () => Promise<void>> = {
  // Records first, then the checkpoint after each of them: what is written twice is written by the
  // same sid.
  async upsert() {
    const file = openSync(log, 'a');

    // A line that the kill before has cut ends here.
    writeSync(file, '\n');
    const stream = createCallStream(client, { ...options, checkpoint: load() });
    process.stdout.write('ready\n');
    for await (const call of stream) {
      writeSync(file, `${JSON.stringify(call)}\n`);
      if (call.sid.endsWith('3')) save(stream.checkpoint());
    }

    save(stream.checkpoint());
    if (stream.verdict().proof !== 'whole') process.exitCode = 1;
    closeSync(file);
  },
  // The file sink keeps the place by itself; the file has its name only when it is whole.
  async file() {
    const sink = fileSink<Call>(log, { encode: toNdjson(), resume: true });
    process.stdout.write('ready\n');
    await createCallStream(client, options).into(sink);
  },
  // The same behind operators that keep something.
  async chain() {
    const sink = fileSink<Call>(log, { encode: toNdjson(), resume: true });
    process.stdout.write('ready\n');
    const once = dedupe<Call>({ key: 'sid' });
    const slowly = mapCalls(async (call: Call) => call, { concurrency: 4 });
    await createCallStream(client, options).through(once, slowly).into(sink);
  },
  // The same with bytes that nobody parses.
  async bytes() {
    const sink = fileSink<Buffer>(log, { encode: [], resume: true });
    process.stdout.write('ready\n');
    await createCallByteStream(client, options).into(sink);
  },
  // One file of place and length is the transaction: what lies behind its length was never
  // committed.
  async transaction() {
    const place = load<{ state: SyncState; length: number }>();
    const file = openSync(log, 'a');
    let length = place?.length ?? 0;
    ftruncateSync(file, length);

    // A sink keeps one record for each sid: those at a border come again.
    const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
    const known = new Set(lines.map((line): string => JSON.parse(line).sid));
    process.stdout.write('ready\n');
    await syncInto(
      client,
      {
        load: async () => place?.state ?? null,
        async commit({ calls, state }) {
          const added = calls.filter(({ sid }) => !known.has(sid));
          for (const call of added) {
            known.add(call.sid);
            length += writeSync(file, `${JSON.stringify(call)}\n`);
          }

          save({ state, length });
          return { added: added.length, changed: 0 };
        },
      },
      { ...options, lookback: '1h', clock: { now: () => Date.UTC(2026, 5, 1) } },
    );
    closeSync(file);
  },
};

await modes[mode]?.();
await client.close();
