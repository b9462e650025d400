// CPU of one worker for a parcel without records: first only board and scheduling (the target says that each parcel is done), then
// with claim and commit in a real target. Ways take turns in each round; medians.
import { join } from 'node:path';
import {
  createWorker,
  credentialsFrom,
  memoryBoard,
  openTarget,
  pinJob,
  planJob,
} from '@call-attribution/fleet';
import { limit, median, timed } from '../figures.mjs';
import { accountsIn, boards, emptyApi, hourlyPlan, newFolder, plannedAt } from './scene.mjs';

const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 5);
const accountCount = 10;
const parcelsEach = Number(process.env.CALLS_BENCH_PARCELS ?? 100);
const parcels = accountCount * parcelsEach;
const folder = newFolder();
const { keys, accounts } = accountsIn(folder.path, accountCount);
const credentials = credentialsFrom({ folder: keys });
const plan = hourlyPlan(parcelsEach);
const servers = await boards();
let runs = 0;

const jobInto = (into, format) => ({
  name: `bench-${process.pid}-${runs}`,
  baseUrl: 'http://127.0.0.1:9',
  accounts,
  into,
  to: plan.to,
  ...(format === undefined ? {} : { format, partition: 'none' }),
});

/** A target in which everything is committed. */
function doneTarget() {
  const verdict = (account, { index, from, to }) => ({
    ...{ account, index, from, to, records: 0, total: 0, requests: 0, rereads: 0, skipped: 0, leftOut: 0 },
    ...{ bytes: 0, sha256: '', at: 0, by: 'bench', version: '0.0.0' },
  });
  return {
    name: 'nothing',
    pin: async (job) => job,
    plan: async () => plan,
    planOf: async () => plan,
    continuePlan: async (_, before) => before,
    claim: async (account, parcel) => ({ done: verdict(account, parcel), drop: async () => {} }),
    reopen: async () => {},
    async *verdicts(account) {
      for (const parcel of plan.parcels) yield verdict(account, parcel);
    },
    count: async () => null,
    sync: () => null,
    inspect: async () => null,
    close: async () => {},
  };
}

/** Milliseconds of CPU per parcel of a worker, and writes to the board per parcel. */
async function work(board, target, job) {
  const now = () => plannedAt;
  await planJob(job, { board, target, credentials, clock: { now } });
  const writes = { won: 0, lost: 0, failed: 0 };
  let summary;
  const worker = createWorker({
    ...{ board, target, credentials, slots: 2, fetch: emptyApi },
    onEvent: (event) => {
      if (event.kind === 'board') writes[event.outcome] += 1;
    },
  });
  const { cpu } = await timed(async () => {
    summary = await worker.run();
  });
  const { committed, done } = summary.parcels;
  if (committed + done !== parcels) throw new Error(`${committed + done} of ${parcels} parcels were done`);
  return { cpu: cpu / parcels, won: writes.won / parcels, lost: writes.lost / parcels };
}

async function onBoard({ open }) {
  runs += 1;
  const job = jobInto('folder:nowhere', 'ndjson.gz');
  const board = await open(job.name);
  try {
    return await work(board, doneTarget(), job);
  } finally {
    await board.close();
  }
}

async function intoTarget(url, format) {
  runs += 1;
  const job = jobInto(await url(), format);
  const target = await openTarget(job.into, pinJob(job, plannedAt));
  try {
    await target.pin(pinJob(job, plannedAt));
    for (const account of accounts) await target.plan(account, async () => plan);
    return await work(memoryBoard(), target, job);
  } finally {
    await target.close();
  }
}

const ways = new Map(servers.kinds.map((board) => [`board: ${board.kind}`, () => onBoard(board)]));
ways.set('target: folder', () =>
  intoTarget(async () => `folder:${join(folder.path, String(runs))}`, 'ndjson.gz'),
);
ways.set('target: SQLite', () => intoTarget(async () => `sqlite:${join(folder.path, `${runs}.db`)}`));
if (servers.postgres) ways.set('target: PostgreSQL', () => intoTarget(() => servers.postgres.newUrl()));

try {
  const results = new Map([...ways.keys()].map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1)
    for (const [name, way] of ways) {
      const result = await way();
      // The first one warms up.
      if (round > 0) results.get(name).push(result);
    }
  const of = (name, figure) => median(results.get(name).map((result) => result[figure]));
  console.log(`${parcels} parcels, medians of ${rounds}          CPU, ms   board writes     lost writes`);
  for (const name of ways.keys())
    console.log(
      `  ${name.padEnd(28)}${of(name, 'cpu').toFixed(2).padStart(15)}${of(name, 'won').toFixed(2).padStart(15)}${of(name, 'lost').toFixed(2).padStart(15)}`,
    );
  for (const name of ways.keys()) {
    if (name.startsWith('board'))
      limit(`CPU of coordination per parcel, ms, ${name}`, of(name, 'cpu'), { most: 1.5 });
    if (name === 'target: folder')
      limit('CPU with claim and commit, ms, folder', of(name, 'cpu'), { most: 7 });
    if (/^target.*SQL/.test(name))
      limit(`CPU with claim and commit, ms, ${name.slice(8)}`, of(name, 'cpu'), { most: 3 });
  }
  limit('board writes per parcel', Math.max(...[...ways.keys()].map((name) => of(name, 'won'))), {
    most: 2.2,
  });
} finally {
  await servers.close();
  folder.remove();
}
