// CPU per call of a worker with one slot, against what it stands for: into a store `syncAccount`
// (`calls sync`), into files `exportMonths` (`calls export --partition month`). The server is a
// process of its own. The ways take turns.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, createClient } from '@call-attribution/core';
import {
  checkJob,
  createWorker,
  credentialsFrom,
  memoryEngine,
  openTarget,
} from '@call-attribution/fleet';
import { exportMonths, monthFolder } from '@call-attribution/node-stream';
import { openStore, syncAccount } from '@call-attribution/store';
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
// The calls lie in one month, so that what is measured is the cost of a call and not that of years
// without any.
const month = { from: '2023-01-01', until: '2023-01-31' };
const inMonth = 'inc_gce:1,date_added:[2023-01-01 00:00:00 TO 2023-02-01 00:00:00}';
let runs = 0;

const perCall = async (work) => ((await timed(work)).cpu * 1000) / records;
const clientOf = () => createClient({ baseUrl: api.url, auth: apiKeys('bench', 'bench') });

async function fleet(into, more = {}) {
  const accounts = [{ id: '1' }];
  const job = await checkJob({
    name: 'bench',
    baseUrl: api.url,
    accounts,
    filter: 'inc_gce:1',
    into,
    ...more,
  });
  const engine = memoryEngine();
  const target = await openTarget(into);
  const credentials = credentialsFrom({ folder: keys });
  const worker = createWorker({ job, engine, target, credentials, name: 'w1', slots: 1 });
  const cpu = await perCall(() => worker.run());
  const { tickets } = await engine.look();
  await target.close();
  if (tickets[0]?.note.calls !== records)
    throw new Error(`${tickets[0]?.note.calls} of ${records} calls were written`);
  return cpu;
}

async function sync() {
  const store = await openStore(`sqlite:${join(folder, `sync-${runs}.db`)}`);
  const client = clientOf();
  const cpu = await perCall(() =>
    syncAccount(client, store, { account: '1', filter: 'inc_gce:1' }),
  );
  await client.close();
  await store.close();
  return cpu;
}

async function exported() {
  const client = clientOf();
  const target = monthFolder(join(folder, `export-${runs}`));
  const cpu = await perCall(() => exportMonths(client, target, { account: '1', filter: inMonth }));
  await client.close();
  return cpu;
}

try {
  const ways = {
    sync,
    'fleet into SQLite': () => fleet(`sqlite:${join(folder, `fleet-${runs}.db`)}`),
    'export by month': exported,
    'fleet into a folder': () => fleet(`folder:${join(folder, `parquet-${runs}`)}`, month),
  };
  const results = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    runs += 1;
    for (const [name, way] of Object.entries(ways)) {
      const cpu = await way();
      if (round > 0) results[name].push(cpu);
    }
  }
  const middle = Object.fromEntries(
    Object.entries(results).map(([name, list]) => [name, median(list)]),
  );
  for (const [name, cpu] of Object.entries(middle))
    console.log(`${name.padEnd(26)} ${cpu.toFixed(1)} µs of CPU per call`);
  limit('fleet into SQLite, against sync', middle['fleet into SQLite'] / middle.sync, {
    most: 1.15,
  });
  limit(
    'fleet into a folder, against export',
    middle['fleet into a folder'] / middle['export by month'],
    {
      most: 1.15,
    },
  );
} finally {
  api.close();
  rmSync(folder, { recursive: true, force: true });
}
