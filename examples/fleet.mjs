// Reads several accounts into a folder, three at a time. The worker leaves in the middle, and another one goes on: every account is proved
// complete at the end, and no call is in two files. With openPostgresEngine(...) workers on any machines do this together.
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
  const options = { job, engine, target, slots: 3, credentials: credentialsFrom({ folder: work }) };
  // The first worker leaves after its first month, and the second one goes on.
  const first = createWorker({
    ...{ ...options, name: 'a' },
    onEvent({ kind }) {
      if (kind === 'turn') first.leave(0);
    },
  });
  const { reason } = await first.run();
  assert.equal(reason, 'left');
  await createWorker({ ...options, name: 'b' }).run();

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
