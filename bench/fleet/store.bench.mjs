// CPU per record of a worker that writes into PostgreSQL, and of PostgreSQL itself: what a machine for each has to be sized for.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createWorker,
  credentialsFrom,
  memoryBoard,
  openTarget,
  pinJob,
  planJob,
} from '@call-attribution/fleet';
import { median, timed } from '../figures.mjs';
import { startServer } from '../node-stream/run.mjs';
import { postgresServer } from '../store/postgres-server.mjs';
import { accountsIn, newFolder, plannedAt } from './scene.mjs';

const records = Number(process.env.CALLS_BENCH_RECORDS ?? 200_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 3);
const folder = newFolder();
const api = await startServer(records);
const postgres = await postgresServer();
const { keys, accounts } = accountsIn(folder.path, 1);
const credentials = credentialsFrom({ folder: keys });

/** CPU time of all PostgreSQL processes so far in ms, those that have ended included. */
function cpuOfPostgres() {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readlinkSync(`/proc/${pid}/exe`).endsWith('/postgres')) continue;
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // utime, stime, cutime, cstime: the last two are of children that have ended.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      for (const field of fields.slice(11, 15)) ticks += Number(field);
    } catch {
      // It has just ended.
    }
  }
  return ticks * 10;
}

try {
  if (postgres === null) throw new Error('PostgreSQL is not installed.');
  const workers = [];
  const servers = [];
  for (let round = 0; round < rounds; round += 1) {
    const into = await postgres.newUrl();
    const job = {
      name: 'bench',
      baseUrl: api.url,
      accounts,
      into,
      to: '2025-12-31 00:00:00',
      filter: 'inc_gce:1',
    };
    const now = () => plannedAt;
    const board = memoryBoard();
    const target = await openTarget(into, pinJob(job, plannedAt));
    await planJob(job, { board, target, credentials, clock: { now } });
    const before = cpuOfPostgres();
    let summary;
    const { cpu } = await timed(async () => {
      summary = await createWorker({ board, target, credentials, slots: 1, clock: { now } }).run();
    });
    await target.close();
    if (summary.records !== records) throw new Error(`${summary.records} of ${records} records were written`);
    workers.push((cpu * 1000) / records);
    // The time of a connection counts once its process has ended.
    await delay(2000);
    servers.push(((cpuOfPostgres() - before) * 1000) / records);
  }
  console.log(`${records} records into PostgreSQL, µs of CPU per record, medians of ${rounds}`);
  console.log(`  worker       ${median(workers).toFixed(0).padStart(6)}`);
  console.log(`  PostgreSQL   ${median(servers).toFixed(0).padStart(6)}`);
} finally {
  await postgres?.close();
  api.close();
  folder.remove();
}
