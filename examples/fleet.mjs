// Reads several accounts with three workers into a folder. One of them leaves in the middle, and the others take over: every account is
// proved complete at the end, and no call is in two files. With openPostgresEngine(...) the workers may be on any machines.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  createWorker,
  credentialsFrom,
  memoryEngine,
  openTarget,
  readJob,
  statusOf,
} from '@call-attribution/fleet';
import { startSandbox } from '@call-attribution/sandbox';

const sandbox = await startSandbox({ records: 12_000, accounts: 3, days: 200 });
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
      format: 'ndjson.gz',
    }),
  );
  const job = await readJob(file);
  const engine = memoryEngine();
  const target = await openTarget(job.into);
  const workers = ['a', 'b', 'c'].map((name) =>
    createWorker({
      ...{ job, engine, target, name, slots: 1 },
      credentials: credentialsFrom({ folder: work }),
      onEvent(event) {
        // Worker a leaves after its first month.
        if (name === 'a' && event.kind === 'turn') workers[0]?.leave(0);
      },
    }),
  );
  const [first] = await Promise.all(workers.map((worker) => worker.run()));
  assert.equal(first?.reason, 'left');

  const status = statusOf(await engine.look(), Date.now());
  assert.equal(status?.states.done, 3);
  const sids = new Set();
  let lines = 0;
  let files = 0;
  for (const name of await readdir(join(work, 'out'), { recursive: true })) {
    if (!name.endsWith('.ndjson.gz')) continue;
    files++;
    const text = gunzipSync(await readFile(join(work, 'out', name))).toString();
    for (const line of text.split('\n').filter(Boolean)) {
      sids.add(JSON.parse(line).sid);
      lines++;
    }
  }
  assert.equal(lines, status?.calls);
  assert.equal(sids.size, lines);
  console.log(
    `${lines} calls of 3 accounts in ${files} files, each in one of them; worker a left in the middle`,
  );
  await target.close();
} finally {
  await sandbox.close();
  await rm(work, { recursive: true });
}
