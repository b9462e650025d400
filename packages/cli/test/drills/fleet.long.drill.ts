import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openDrill } from '@call-attribution/test-tools/drill';
import { findNats, startNats } from '@call-attribution/test-tools/nats';
import { startPostgres } from '@call-attribution/test-tools/postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Finished } from '../program.ts';
import { type OwnStage, openOwnStage } from '../stage.ts';

openDrill({
  name: 'fleet-commands',
  kind: 'whole programs',
  what: 'A job is planned, worked on by processes that are killed and leave, watched and verified, over each kind of board',
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
    writeFileSync(join(folder, `keys/${id}.json`), JSON.stringify({ accessKey, secretKey }), { mode: 0o600 });
  const job = {
    ...{ name: 'history', baseUrl: stage.url, accounts: stage.sandbox.accounts.map(({ id }) => ({ id })) },
    ...{ filter: 'inc_gce:1', into: 'folder:out', format: 'ndjson', parcel: 200 },
    ...more,
  };
  writeFileSync(join(folder, 'job.json'), JSON.stringify(job));
  return folder;
}

interface Server {
  readonly url: string;
  close(): Promise<void>;
}

// Where one is not installed, a line says so.
const hasNats = findNats() !== null;
const postgres = startPostgres();
const boards: [string, () => Promise<Server>][] = [
  ...(postgres === null ? [] : [['PostgreSQL', async () => postgres] as [string, () => Promise<Server>]]),
  ...(hasNats ? [['NATS', () => startNats()] as [string, () => Promise<Server>]] : []),
];

describe.each(boards)('over %s', (_, start) => {
  let board: Server;
  beforeAll(async () => {
    board = await start();
  });
  afterAll(() => board.close());

  const fleet = (
    folder: string,
    args: readonly string[],
    started?: (child: ChildProcess) => void,
  ): Promise<Finished> =>
    stage.calls(['fleet', ...args], {
      cwd: folder,
      env: { CALLS_FLEET_BOARD: board.url, CALLS_FLEET_KEYS: 'keys' },
      ...(started ? { started } : {}),
    });

  test('a job is planned, worked on by processes of which one is killed and one leaves, watched, and verified', async () => {
    const folder = jobFolder({ requestsPerMinute: 600 });
    expect(await fleet(folder, ['status', 'history'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/has no such job\n {2}→ plan it first: calls fleet plan/),
    });
    const plan = await fleet(folder, ['plan', 'job.json']);
    expect(plan).toMatchObject({ code: 0, stdout: '' });
    expect(plan.stderr).toMatch(
      /planned 3 of 3 accounts .*\n.*start workers with\n {2}calls fleet work history\n$/,
    );

    const children: ChildProcess[] = [];
    const workers = ['w-1', 'w-2', 'w-3'].map((name) =>
      fleet(folder, ['work', 'history', '--name', name, '--ttl', '2s', '--slots', '1'], (child) =>
        children.push(child),
      ),
    );
    const status = async () => {
      const { stdout } = await fleet(folder, ['status', 'history', '--json', '--ttl', '2s']);
      return JSON.parse(stdout);
    };
    while ((await status()).parcels.done < 3) await setTimeout(100);
    children[0]?.kill('SIGKILL');
    children[1]?.kill('SIGTERM');
    expect(await workers[1]).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(
        /leaving: parcels under way have 1 min to end; a second Ctrl-C ends at once/,
      ),
    });
    const watched = await fleet(folder, ['status', 'history', '--watch', '--ttl', '2s']);
    expect(watched.code).toBe(0);
    expect(watched.stdout).toMatch(/^history (?:running|done).*\n[\s\S]*history done .*final 3\n$/);
    expect(await workers[2]).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/history: 3 of 3 accounts proved, [\d,]+ records in /),
    });
    expect((await workers[0])?.signal).toBe('SIGKILL');
    const verified = await fleet(folder, ['verify', 'history', '--deep']);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/3 accounts: 3 proved/) });
    expect(readdirSync(join(folder, 'out'), { recursive: true }).length).toBeGreaterThan(60);
  });

  test('a second signal ends a worker at once, and the job is finished by another', async () => {
    const folder = jobFolder({
      name: 'second',
      requestsPerMinute: 300,
      accounts: [{ id: stage.sandbox.accounts[0]?.id }],
    });
    await fleet(folder, ['plan', 'job.json']);
    const running = fleet(folder, ['work', 'second', '--ttl', '2s'], (child) => {
      // The first signal when the worker reads, the second when it says that it leaves.
      let said = '';
      child.stderr?.on('data', (chunk) => {
        said += chunk;
        if (said.includes('leaving: ')) child.kill('SIGINT');
      });
      void firstParcel().then(() => child.kill('SIGINT'));
    });
    async function firstParcel() {
      for (;;) {
        const { stdout } = await fleet(folder, ['status', 'second', '--json', '--ttl', '2s']);
        if (JSON.parse(stdout).parcels.done > 0) return;
      }
    }
    expect(await running).toMatchObject({ code: null, signal: 'SIGINT' });
    expect(await fleet(folder, ['work', 'second', '--ttl', '2s'])).toMatchObject({ code: 0 });
    expect(await fleet(folder, ['verify', 'second'])).toMatchObject({ code: 0 });
  });
});

test('a board or a database that does not answer ends with status 5', async () => {
  const folder = jobFolder({ into: 'postgres://nobody@127.0.0.1:1/none', format: undefined });
  const calls = (args: readonly string[]) => stage.calls(['fleet', ...args], { cwd: folder });
  const [nats, postgres, target] = await Promise.all([
    calls(['status', 'history', '--board', 'nats://127.0.0.1:1']),
    calls(['pause', 'history', '--board', 'postgres://nobody@127.0.0.1:1/none']),
    calls(['work', 'job.json', '--keys', 'keys']),
  ]);
  expect(nats).toMatchObject({ code: 5, stdout: '' });
  expect(nats.stderr).toMatch(/^nats:\/\/127.0.0.1:1 does not answer; waiting \(Ctrl-C ends\)\n/);
  expect(nats.stderr).toMatch(/calls: nats:\/\/127.0.0.1:1 did not answer within 30 s\n/);
  expect(postgres).toMatchObject({ code: 5, stderr: expect.stringMatching(/does not answer|ECONNREFUSED/) });
  expect(target).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/does not respond \(ECONNREFUSED\)/),
  });
});

test.each(hasNats ? ['NATS'] : [])('%s without JetStream is refused before anything is read', async () => {
  const nats = await startNats({ jetStream: false });
  const folder = jobFolder({ baseUrl: 'http://127.0.0.1:1' });
  const { code, stderr } = await stage.calls(['fleet', 'plan', 'job.json', '--board', nats.url], {
    cwd: folder,
  });
  await nats.close();
  expect(code).toBe(2);
  expect(stderr).toMatch(/does not have JetStream enabled\n {2}→ Start nats-server with -js/);
});
