// Reads several accounts into a folder, three at a time. The worker leaves in the middle, and
// another one goes on: every account is proved complete at the end, and no call is in two files.
// With openPostgresEngine(...) workers on any machines do this together.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createWorker,
  credentialsFrom,
  memoryEngine,
  openTarget,
  readJob,
  statusOf,
} from '@call-attribution/fleet';
import { readReceipt } from '@call-attribution/node-stream/receipts';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 12_000, accounts: 3, days: 200 });
const work = await mkdtemp(join(tmpdir(), 'fleet-example-'));
try {
  // Keys are files that each worker reads itself; the job only says which.
  for (const { id, accessKey, secretKey } of sandbox.accounts)
    await writeFile(join(work, `${id}.json`), JSON.stringify({ accessKey, secretKey }), {
      mode: 0o600,
    });
  const file = join(work, 'job.json');
  await writeFile(
    file,
    JSON.stringify({
      name: 'history',
      baseUrl: sandbox.url,
      accounts: sandbox.accounts.map(({ id }) => ({ id })),
      filter: 'inc_gce:1',
      into: `folder:${join(work, 'out')}`,
    }),
  );
  const job = await readJob(file);
  const engine = memoryEngine();
  const target = await openTarget(job.into);
  const options = { job, engine, target, slots: 3, credentials: credentialsFrom({ folder: work }) };
  // The first worker leaves after its first month, and the second one goes on.
  const first = createWorker({
    ...options,
    name: 'a',
    onEvent({ kind }) {
      if (kind === 'turn') first.leave(0);
    },
  });
  const { reason } = await first.run();
  assert.equal(reason, 'left');
  await createWorker({ ...options, name: 'b' }).run();

  const status = statusOf(await engine.look(), Date.now());
  assert.equal(status?.states.done, 3);
  let calls = 0;
  let files = 0;
  for (const name of await readdir(join(work, 'out'), { recursive: true })) {
    if (!name.endsWith('.parquet')) continue;
    files++;
    // What was written, with its proof, lies next to each file.
    const receipt = (await readReceipt(join(work, 'out', name)))?.receipt;
    assert.equal(receipt?.verdict?.proof, 'whole');
    calls += receipt?.rows.count ?? 0;
  }
  assert.equal(calls, status?.calls);
  console.log(
    `${calls} calls of 3 accounts in ${files} files, each of them proved; worker a left in the middle`,
  );
  await target.close();
} finally {
  await sandbox.close();
  await rm(work, { recursive: true });
}
