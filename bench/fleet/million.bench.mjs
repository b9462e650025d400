// 1,000,000 parcels in 500 accounts: plans written to a store and to a folder, lanes put on a board, the status read, the ledger
// summed up. The verdicts are copied by SQL from one that the target wrote.
import { join } from 'node:path';
import {
  createStatusReader,
  credentialsFrom,
  memoryBoard,
  openTarget,
  pinJob,
  planJob,
} from '@call-attribution/fleet';
import { limit, timed } from '../figures.mjs';
import { postgresServer } from '../store/postgres-server.mjs';
import { accountsIn, hourlyPlan, newFolder, plannedAt } from './scene.mjs';
import { copyVerdicts } from './verdicts.mjs';

const accountCount = 500;
const each = Number(process.env.CALLS_BENCH_PARCELS ?? 2_000);
const folder = newFolder();
const postgres = await postgresServer();
const { keys, accounts } = accountsIn(folder.path, accountCount);
const credentials = credentialsFrom({ folder: keys });
const plan = hourlyPlan(each, 50_000);
const now = () => plannedAt;
const seconds = (what, { wall, cpu }) =>
  console.log(
    `  ${what.padEnd(44)} ${(wall / 1000).toFixed(2).padStart(7)} s, ${(cpu / 1000).toFixed(2)} s of CPU`,
  );

try {
  console.log(`${accountCount} accounts with ${each} parcels each`);
  const jobInto = (into) => ({
    name: 'million',
    baseUrl: 'http://127.0.0.1:9',
    accounts,
    into,
    to: plan.to,
  });
  const kinds = [
    ['folder', `folder:${join(folder.path, 'out')}`],
    ['SQLite', `sqlite:${join(folder.path, 'calls.db')}`],
    ...(postgres === null ? [] : [['PostgreSQL', await postgres.newUrl()]]),
  ];
  for (const [kind, into] of kinds) {
    const job = jobInto(into);
    const target = await openTarget(into, pinJob(job, plannedAt));
    await target.pin(pinJob(job, plannedAt));
    const written = await timed(async () => {
      // Side by side, as a plan is made.
      const left = [...accounts];
      const planSome = async () => {
        for (let account = left.pop(); account; account = left.pop())
          await target.plan(account, async () => plan);
      };
      await Promise.all(Array.from({ length: 8 }, planSome));
    });
    seconds(`plans written, ${kind}`, written);
    limit(`seconds to write the plans, ${kind}`, written.wall / 1000, { most: 10 });
    if (kind === 'SQLite') {
      const board = memoryBoard();
      global.gc?.();
      const before = process.memoryUsage.rss();
      seconds(
        'lanes and accounts put on a board',
        await timed(() => planJob(job, { board, target, credentials, clock: { now } })),
      );
      const status = createStatusReader(board);
      let seen;
      const read = await timed(() => {
        seen = status.read();
      });
      if (seen.parcels.total !== accountCount * each)
        throw new Error(`${seen.parcels.total} parcels in the status`);
      seconds('status read', read);
      limit('seconds to read the status', read.wall / 1000, { most: 1 });
      limit('MB of the process with board and status', process.memoryUsage.rss() / 1e6, { most: 150 });
      console.log(
        `  of them since before the board was filled    ${((process.memoryUsage.rss() - before) / 1e6).toFixed(0)} MB`,
      );
    }
    if (kind !== 'folder') {
      await copyVerdicts(into, target, accounts, plan);
      let [parcels, records] = [0, 0];
      const summed = await timed(async () => {
        for (const { id } of accounts)
          for await (const verdict of target.verdicts(id)) {
            parcels += 1;
            records += verdict.records;
          }
      });
      if (parcels !== accountCount * each || records !== parcels * 7)
        throw new Error(`${parcels} parcels, ${records} records`);
      seconds(`sum over the ledger, ${kind}`, summed);
      limit(`seconds to sum up the ledger, ${kind}`, summed.wall / 1000, { most: 10 });
    }
    await target.close();
  }
} finally {
  await postgres?.close();
  folder.remove();
}
