import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from '../stage.ts';

openDrill({
  name: 'fleet-commands',
  kind: 'whole programs',
  what: 'A job is worked on by a process that is killed, and one that gets a second signal; another one ends it, and every account is proved',
  countTests: true,
});

let stage: OwnStage;
beforeAll(async () => {
  stage = await openOwnStage({ records: 12_000, accounts: 3 });
});
afterAll(() => stage.close());

/** A folder with a job of three accounts and their keys. */
function jobFolder(more: object = {}): string {
  const folder = stage.folder();
  mkdirSync(join(folder, 'keys'));
  for (const { id, accessKey, secretKey } of stage.sandbox.accounts)
    writeFileSync(join(folder, `keys/${id}.json`), JSON.stringify({ accessKey, secretKey }), {
      mode: 0o600,
    });

  const job = {
    name: 'history',
    baseUrl: stage.url,
    accounts: stage.sandbox.accounts.map(({ id }) => ({ id })),
    filter: 'inc_gce:1',
    into: 'folder:out',
    ...more,
  };
  writeFileSync(join(folder, 'job.json'), JSON.stringify(job));
  return folder;
}

const work = (folder: string, started?: (child: ChildProcess) => void) =>
  stage.calls(['fleet', 'work', 'job.json', '--keys', 'keys'], {
    cwd: folder,
    ...(started ? { started } : {}),
  });

/** Resolves once a file of the job is there. */
async function firstFile(folder: string): Promise<void> {
  const isThere = () =>
    existsSync(join(folder, 'out')) &&
    readdirSync(join(folder, 'out'), { recursive: true, encoding: 'utf8' }).some((name) =>
      name.endsWith('.parquet'),
    );
  while (!isThere()) await setTimeout(20);
}

test('a process that is killed, and one that gets a second signal, lose nothing', async () => {
  const folder = jobFolder({ requestsPerMinute: 6000 });
  const killed = await work(
    folder,
    (child) => void firstFile(folder).then(() => child.kill('SIGKILL')),
  );
  expect(killed.signal).toBe('SIGKILL');
  await work(folder, (child) => {
    // The first signal when the worker reads, the second when it says that it leaves.
    let said = '';
    child.stderr?.on('data', (chunk) => {
      const before = said;
      said += chunk;
      if (said.includes('leaving: ') && !before.includes('leaving: ')) child.kill('SIGINT');
      if (said.includes('Ctrl-C stops') && !before.includes('Ctrl-C stops')) child.kill('SIGINT');
    });
  });
  expect(await work(folder)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/3 of 3 accounts proved/),
  });
  expect(await stage.calls(['verify', 'job.json'], { cwd: folder })).toMatchObject({ code: 0 });
});

test('a database that does not answer ends with status 5', async () => {
  const folder = jobFolder({ into: 'postgres://nobody@127.0.0.1:1/none' });
  expect(await work(folder)).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/does not respond \(ECONNREFUSED\)/),
  });
});
