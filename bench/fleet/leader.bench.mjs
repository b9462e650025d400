// The leader of the board among three NATS servers is killed while workers read: how long nothing is committed, and how many parcels
// are committed twice.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { credentialsFrom, openBoard, openTarget, pinJob, planJob } from '@call-attribution/fleet';
import { limit } from '../figures.mjs';
import { startServer } from '../node-stream/run.mjs';
import { accountsIn, natsServer, newFolder, plannedAt } from './scene.mjs';

const requireFrom = createRequire(new URL('../../packages/fleet/package.json', import.meta.url));
const load = (name) => import(pathToFileURL(requireFrom.resolve(name)).href);
const { connect } = await load('@nats-io/transport-node');
const { jetstreamManager } = await load('@nats-io/jetstream');

const folder = newFolder();
const nats = await natsServer({ nodes: 3 });
const api = await startServer(100_000, 300);
const name = 'leader';
try {
  if (nats === null) process.exit();
  const { keys, accounts } = accountsIn(folder.path, 2);
  const into = `folder:${join(folder.path, 'out')}`;
  const job = {
    ...{ name, baseUrl: api.url, accounts, into, format: 'ndjson.gz', partition: 'none' },
    ...{ to: '2025-12-31 00:00:00', parcel: 2_000 },
  };
  const board = await openBoard(nats.url, name);
  const target = await openTarget(into, pinJob(job, plannedAt));
  const credentials = credentialsFrom({ folder: keys });
  const plan = await planJob(job, { board, target, credentials, clock: { now: () => plannedAt } });
  await target.close();

  const committed = [];
  const workers = [1, 2, 3].map(() => {
    const child = fork(join(import.meta.dirname, 'work.mjs'), [nats.url, name, keys, '1', '30s']);
    child.on('message', (event) => {
      if (event.kind === 'parcel' && event.outcome === 'committed')
        committed.push({ ...event, at: Date.now() });
    });
    return { child, gone: once(child, 'exit') };
  });
  while (committed.length < 10) await delay(50);

  const connection = await connect({ servers: nats.nodes.map(({ url }) => url) });
  const manager = await jetstreamManager(connection);
  const { leader } = (await manager.streams.info(`KV_FLEET_${name}`)).cluster;
  await connection.close();
  await nats.nodes.find((node) => node.name === leader).kill();
  await Promise.all(workers.map(({ gone }) => gone));
  await board.close();

  const times = committed.map(({ at }) => at);
  const gaps = times.slice(1).map((at, i) => at - times[i]);
  const parcels = new Set(committed.map(({ account, index }) => `${account} ${index}`));
  if (parcels.size !== plan.parcels)
    throw new Error(`${parcels.size} of ${plan.parcels} parcels were committed`);
  limit('seconds without a commit after the leader was killed', Math.max(...gaps) / 1000, { most: 15 });
  limit('parcels committed twice', committed.length - parcels.size, { most: 0 });
} finally {
  await nats?.close();
  api.close();
  folder.remove();
}
