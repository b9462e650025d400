// CPU per record of a worker that writes parcels of 50,000 records as packed lines into a folder, against a plain export of the same
// stretch: the stream of lines, packed, into one file, once with slices of one page and once of ten as a worker has. The server is a process of its own. The two take turns.
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { apiKeys, createClient } from '@call-attribution/core';
import {
  createWorker,
  credentialsFrom,
  memoryBoard,
  openTarget,
  pinJob,
  planJob,
} from '@call-attribution/fleet';
import { createCallByteStream } from '@call-attribution/node-stream';
import { toGzip } from '@call-attribution/node-stream/encoders';
import { fileSink } from '@call-attribution/node-stream/sinks';
import { limit, median, timed } from '../figures.mjs';
import { startServer } from '../node-stream/run.mjs';
import { accountsIn, newFolder, plannedAt } from './scene.mjs';

const records = Number(process.env.CALLS_BENCH_RECORDS ?? 200_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 5);
const folder = newFolder();
const api = await startServer(records);
const { keys, accounts } = accountsIn(folder.path, 1);
const credentials = credentialsFrom({ folder: keys });
const to = '2025-12-31 00:00:00';
let runs = 0;

async function plain(pages) {
  const client = createClient({ baseUrl: api.url, auth: apiKeys('bench', 'bench') });
  const file = join(folder.path, `plain-${runs}-${pages}.ndjson.gz`);
  const { cpu } = await timed(() =>
    pipeline(
      createCallByteStream(client, {
        filter: `date_added:[* TO ${to}}`,
        window: { pages },
        clock: { now: () => plannedAt },
      }),
      fileSink(file, { encode: toGzip() }),
    ),
  );
  await client.close();
  return (cpu * 1000) / records;
}

async function fleet(format) {
  const into = `folder:${join(folder.path, `fleet-${runs}-${format}`)}`;
  const job = { name: 'bench', baseUrl: api.url, accounts, into, format, partition: 'none', to, lanes: 1 };
  const now = () => plannedAt;
  const board = memoryBoard();
  const target = await openTarget(into, pinJob(job, plannedAt));
  const plan = await planJob(job, { board, target, credentials, clock: { now } });
  let summary;
  const { cpu } = await timed(async () => {
    summary = await createWorker({ board, target, credentials, slots: 1, clock: { now } }).run();
  });
  await target.close();
  if (summary.records !== records) throw new Error(`${summary.records} of ${records} records were written`);
  return { cpu: (cpu * 1000) / records, plan, requests: summary.requests };
}

try {
  const results = { plain: [], ten: [], packed: [], lines: [], parquet: [] };
  let seen;
  for (let round = 0; round <= rounds; round += 1) {
    runs += 1;
    const one = await plain(1);
    const ten = await plain(10);
    seen = await fleet('ndjson.gz');
    const others = round === 0 ? null : [await fleet('ndjson'), await fleet('parquet')];
    if (others === null) continue;
    results.plain.push(one);
    results.ten.push(ten);
    results.packed.push(seen.cpu);
    results.lines.push(others[0].cpu);
    results.parquet.push(others[1].cpu);
  }
  const { parcels, requests } = seen.plan;
  console.log(
    `${records} records in ${parcels} parcels; ${requests} requests for the plan, ${seen.requests} to read`,
  );
  console.log('µs of CPU per record');
  console.log(`  plain export, packed lines   ${median(results.plain).toFixed(1).padStart(6)}`);
  console.log(`  the same, slices of 10 pages ${median(results.ten).toFixed(1).padStart(6)}`);
  console.log(`  fleet, packed lines          ${median(results.packed).toFixed(1).padStart(6)}`);
  console.log(`  fleet, lines                 ${median(results.lines).toFixed(1).padStart(6)}`);
  console.log(`  fleet, Parquet               ${median(results.parquet).toFixed(1).padStart(6)}`);
  const ratio = median(results.packed.map((cpu, round) => cpu / results.plain[round]));
  limit('CPU of a worker against a plain export', ratio, { most: 1.03 });
} finally {
  api.close();
  folder.remove();
}
