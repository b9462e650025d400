// CPU per call of a worker with one slot, against what it stands for: into a store `syncInto` (`calls sync`), into files a stream into
// one file with a receipt (`calls export`). The server is a process of its own. The ways take turns.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, createClient } from '@call-attribution/core';
import { checkJob, createWorker, credentialsFrom, memoryEngine, openTarget } from '@call-attribution/fleet';
import { createCallStream, syncInto } from '@call-attribution/node-stream';
import { toGzip, toNdjson, toParquet } from '@call-attribution/node-stream/encoders';
import { fileSink } from '@call-attribution/node-stream/sinks';
import { mirrorSink, openStore } from '@call-attribution/store';
import { limit, median, timed } from '../figures.mjs';
import { startServer } from '../node-stream/run.mjs';

const records = Number(process.env.CALLS_BENCH_RECORDS ?? 100_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 3);
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));
const api = await startServer(records);
const keys = join(folder, 'keys');
mkdirSync(keys);
writeFileSync(join(keys, '1.json'), JSON.stringify({ accessKey: 'bench', secretKey: 'bench' }), {
  mode: 0o600,
});
const filter = 'inc_gce:1';
// The calls lie in one month, so that what is measured is the cost of a call and not that of years without any.
const month = { from: '2023-01-01', until: '2023-02-01' };
let runs = 0;

const perCall = async (work) => ((await timed(work)).cpu * 1000) / records;
const clientOf = () => createClient({ baseUrl: api.url, auth: apiKeys('bench', 'bench') });

async function fleet(into, more = {}) {
  const job = await checkJob({
    name: 'bench',
    baseUrl: api.url,
    accounts: [{ id: '1' }],
    filter,
    into,
    ...more,
  });
  const engine = memoryEngine();
  const target = await openTarget(into);
  const worker = createWorker({
    ...{ job, engine, target, name: 'w1', slots: 1 },
    credentials: credentialsFrom({ folder: keys }),
  });
  const cpu = await perCall(() => worker.run());
  const { tickets } = await engine.look();
  await target.close();
  if (tickets[0]?.note.calls !== records)
    throw new Error(`${tickets[0]?.note.calls} of ${records} calls were written`);
  return cpu;
}

async function sync() {
  const store = await openStore(`sqlite:${join(folder, `sync-${runs}.db`)}`);
  await store.putAccount({ id: '1', name: '1' });
  const client = clientOf();
  const cpu = await perCall(() => syncInto(client, mirrorSink(store, '1'), { filter }));
  await client.close();
  await store.close();
  return cpu;
}

async function exported(encode, name) {
  const client = clientOf();
  const facts = { source: null, accounts: ['1'], version: 'v3', filter, from: null, to: null, verdict: null };
  const sink = fileSink(join(folder, `export-${runs}.${name}`), { encode, receipt: async () => facts });
  const cpu = await perCall(() => createCallStream(client, { filter }).into(sink));
  await client.close();
  return cpu;
}

try {
  const ways = {
    sync,
    'fleet into SQLite': () => fleet(`sqlite:${join(folder, `fleet-${runs}.db`)}`),
    'export, Parquet': () => exported(toParquet(), 'parquet'),
    'fleet into Parquet': () => fleet(`folder:${join(folder, `parquet-${runs}`)}`, month),
    'export, packed lines': () => exported([toNdjson(), toGzip()], 'ndjson.gz'),
    'fleet into packed lines': () =>
      fleet(`folder:${join(folder, `lines-${runs}`)}`, { ...month, format: 'ndjson.gz' }),
  };
  const results = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    runs += 1;
    for (const [name, way] of Object.entries(ways)) {
      const cpu = await way();
      if (round > 0) results[name].push(cpu);
    }
  }
  const middle = Object.fromEntries(Object.entries(results).map(([name, list]) => [name, median(list)]));
  for (const [name, cpu] of Object.entries(middle))
    console.log(`${name.padEnd(26)} ${cpu.toFixed(1)} µs of CPU per call`);
  limit('fleet into SQLite, against sync', middle['fleet into SQLite'] / middle.sync, { most: 1.1 });
  limit('fleet into Parquet, against export', middle['fleet into Parquet'] / middle['export, Parquet'], {
    most: 1.1,
  });
  limit(
    'fleet into lines, against export',
    middle['fleet into packed lines'] / middle['export, packed lines'],
    { most: 1.1 },
  );
} finally {
  api.close();
  rmSync(folder, { recursive: true, force: true });
}
