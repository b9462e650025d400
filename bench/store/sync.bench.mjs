// A first sync of an empty store over HTTP, client included, against reading the same pages and
// throwing the records away: the difference is what the sync and the store cost. The server is a
// process of its own. Ways take turns within each round. A third of the records are open (their
// ppc_status is not final), which is the worst case for the state.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, createClient } from '@call-attribution/core';
import { createCallStream, syncInto } from '@call-attribution/node-stream';
import { mirrorSink, openStore } from '@call-attribution/store';
import { limit, median, timed } from '../figures.mjs';
import { firstSecond, step } from '../node-stream/records.mjs';
import { startServer } from '../node-stream/run.mjs';
import { postgresServer } from './postgres-server.mjs';

const records = Number(process.env.CALLS_BENCH_RECORDS ?? 50_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 5);
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));
const api = await startServer(records);
const postgres = await postgresServer();
const options = { rows: 1000, clock: { now: () => (firstSecond + records * step) * 1000 } };

const withClient = async (work) => {
  const client = createClient({
    baseUrl: api.url,
    auth: apiKeys('bench', 'bench'),
    compress: false,
  });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
};

const results = { read: [], SQLite: [], PostgreSQL: [] };
const stateBytes = {};
const note = async (what, work) => results[what].push(((await timed(work)).cpu * 1000) / records);

async function sync(what, url, lookback) {
  const store = await openStore(url);
  await store.putAccount({ id: '101', name: 'bench' });
  let written = 0;
  const sink = mirrorSink(
    {
      ...store,
      commitClaimed(claim, batch) {
        if (batch.note !== undefined) written += JSON.stringify(batch.note).length;
        return store.commitClaimed(claim, batch);
      },
    },
    '101',
  );
  const run = () => withClient((client) => syncInto(client, sink, { ...options, lookback }));
  if (what === null) await run();
  else await note(what, run);
  const last = await store.note('101');
  await store.close();
  return { written: written / records, last: JSON.stringify(last.note).length };
}

try {
  for (let round = 0; round < rounds; round += 1) {
    await note('read', () =>
      withClient(async (client) => {
        let count = 0;
        for await (const page of createCallStream(client, { rows: 1000 }).pages())
          count += page.items.length;
        if (count !== records) throw new Error(`${count} records were read.`);
      }),
    );
    stateBytes.short = await sync('SQLite', `sqlite:${join(folder, `short-${round}.db`)}`, '3d');
    if (postgres !== null) await sync('PostgreSQL', await postgres.newUrl(), '3d');
  }
  stateBytes.long = await sync(null, `sqlite:${join(folder, 'long.db')}`, '365d');

  console.log('µs of CPU per record           with the client   without');
  const read = median(results.read);
  console.log(`  reading only                 ${read.toFixed(1).padStart(15)}`);
  for (const what of ['SQLite', 'PostgreSQL']) {
    if (results[what].length === 0) continue;
    // Within a round all ways meet the same machine.
    const without = median(results[what].map((cpu, round) => cpu - results.read[round]));
    console.log(
      `  syncInto, ${what.padEnd(18)} ${median(results[what]).toFixed(1).padStart(15)} ${without.toFixed(1).padStart(9)}`,
    );
  }
  const { short, long } = stateBytes;
  console.log(`state at the end, bytes: lookback 3d ${short.last}, 365d ${long.last}`);
  limit('bytes of states written per record', short.written, { most: 400 });
  limit('state at the end, lookback of 365 days against 3 days', long.last / short.last, {
    most: 1.01,
  });
} finally {
  api.close();
  await postgres?.close();
  rmSync(folder, { recursive: true, force: true });
}
