// Reads several accounts with three workers into a folder. One of them ends in the middle, and the others take over: every account is
// proved complete at the end, and no record is in two files. With openBoard('nats://...') the workers may be on any machines.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createWorker,
  credentialsFrom,
  openBoard,
  openTarget,
  pinJob,
  planJob,
  readJob,
  readStatus,
  verifyJob,
} from '@call-attribution/fleet';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 12_000, accounts: 3 });
const work = await mkdtemp(join(tmpdir(), 'fleet-example-'));
try {
  // Keys are files that each worker reads itself; the job only says which.
  for (const { id, accessKey, secretKey } of sandbox.accounts)
    await writeFile(join(work, `${id}.json`), JSON.stringify({ accessKey, secretKey }), { mode: 0o600 });
  const file = join(work, 'job.json');
  await writeFile(
    file,
    JSON.stringify({
      name: 'history',
      baseUrl: sandbox.url,
      accounts: sandbox.accounts.map(({ id }) => ({ id })),
      filter: 'inc_gce:1',
      into: `folder:${join(work, 'out')}`,
      format: 'ndjson',
      parcel: 500,
    }),
  );
  const job = await readJob(file);
  const credentials = credentialsFrom({ folder: work });
  const target = await openTarget(job.into, pinJob(job));
  const board = await openBoard('memory:', job.name);
  const plan = await planJob(job, { board, target, credentials });

  const stop = new AbortController();
  let ended = 0;
  const workers = ['a', 'b', 'c'].map((name) =>
    createWorker({
      board,
      target,
      credentials,
      name,
      slots: 2,
      onEvent(event) {
        // Worker a ends in the middle of its second parcel: what it was reading does not count.
        if (name === 'a' && event.kind === 'parcel' && event.outcome === 'committed' && ended++ === 0)
          stop.abort();
      },
    }),
  );
  const done = await Promise.all(workers.map((worker, i) => worker.run(i === 0 ? stop.signal : undefined)));
  assert.equal(done[0]?.end, 'left');

  const { phases, parcels } = readStatus(board);
  assert.equal(phases.final, 3);
  assert.deepEqual(parcels, { done: plan.parcels, total: plan.parcels, aside: 0 });

  let total = 0;
  for await (const { account, verdict, records } of verifyJob({ target, job, credentials, deep: true })) {
    assert.equal(verdict, 'proved', account);
    total += records;
  }
  const sids = new Set();
  let lines = 0;
  for (const name of await readdir(join(work, 'out'), { recursive: true })) {
    if (!name.endsWith('.ndjson')) continue;
    for (const line of (await readFile(join(work, 'out', name), 'utf8')).split('\n').filter(Boolean)) {
      sids.add(JSON.parse(line).sid);
      lines++;
    }
  }
  assert.equal(lines, total);
  assert.equal(sids.size, total);
  console.log(
    `${total} calls of ${plan.accounts} accounts in ${plan.parcels} files, each in one of them; worker a ended after ${done[0]?.parcels.committed} parcels`,
  );
  await board.close();
  await target.close();
} finally {
  await sandbox.close();
  await rm(work, { recursive: true });
}
