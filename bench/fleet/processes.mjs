// Jobs that workers in processes of their own read over NATS.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { credentialsFrom, openBoard, openTarget, pinJob, planJob } from '@call-attribution/fleet';
import { accountsIn, natsServer, newFolder, plannedAt } from './scene.mjs';

const folder = newFolder();
const nats = await natsServer();
let jobs = 0;

/** Ends NATS and removes all files. */
export async function end() {
  await nats?.close();
  folder.remove();
}

/** Is there a NATS server here? */
export const hasNats = nats !== null;

/** Plans a job of accounts with so many records each. */
export async function planned(api, accountCount, parcel, format = 'ndjson.gz', settings = {}) {
  jobs += 1;
  const name = `bench-${jobs}`;
  const { keys, accounts } = accountsIn(folder.path, accountCount);
  const job = {
    ...{ name, baseUrl: api.url, accounts, into: `folder:${join(folder.path, name)}`, format },
    ...{ partition: 'none', to: '2025-12-31 00:00:00', parcel },
    ...settings,
  };
  const board = await openBoard(nats.url, name);
  const target = await openTarget(job.into, pinJob(job, plannedAt));
  const now = () => plannedAt;
  const plan = await planJob(job, {
    board,
    target,
    credentials: credentialsFrom({ folder: keys }),
    clock: { now },
  });
  await target.close();
  return { name, keys, board, plan };
}

/** Starts a worker. */
export function start({ name, keys }, slots = 1, ttl = '30s') {
  const events = [];
  const child = fork(join(import.meta.dirname, 'work.mjs'), [nats.url, name, keys, String(slots), ttl]);
  child.on('message', (event) => events.push(event));
  return { child, events, gone: once(child, 'exit') };
}
