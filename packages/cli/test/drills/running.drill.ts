import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLive } from '../live.ts';
import { type OwnStage, openOwnStage } from '../stage.ts';

openDrill({
  name: 'running-programs',
  kind: 'whole programs',
  what: 'Commands that serve, sync, repeat, answer and demonstrate run as processes and end on Ctrl-C',
  countTests: true,
});

let stage: OwnStage;
beforeAll(async () => {
  stage = await openOwnStage({ records: 200 });
});
afterAll(() => stage.close());
const start = (args: string[], env?: Record<string, string>, cwd?: string) =>
  startLive(stage, args, env, cwd);

describe('calls serve', () => {
  test('a sandbox prints its URL and keys, and stops on Ctrl-C', async () => {
    const served = start(['serve', '--port', '0', '--records', '40', '--ready-json']);
    const [line = ''] = await served.until(/^\{.*\}\n/);
    const ready = JSON.parse(line);
    const [account] = ready.accounts;
    const env = {
      CALLS_BASE_URL: ready.url,
      CALLS_ACCESS_KEY: account.accessKey,
      CALLS_SECRET_KEY: account.secretKey,
    };
    expect((await stage.quick(['count', '--q', 'inc_gce:1'], { env })).stdout).toBe('40\n');
    expect(served.said().stderr).toMatch(/export CALLS_ACCESS_KEY=/);
    expect(await served.stop()).toBe(0);
    expect((await stage.quick(['count'], { env })).code).toBe(5);
  });
});

describe('calls sync', () => {
  test('it fills a store, finds the same calls again, and the store serves them with the same keys', async () => {
    const cwd = stage.folder();
    const first = await stage.quick(['sync', '--store', 'sqlite:calls.db', '--json'], { cwd });
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({
      account: '101',
      new: 200,
      changed: 0,
      same: 0,
    });
    expect(first.stderr).toMatch(/200 new, 0 changed, 0 the same/);
    const second = await stage.quick('sync --store sqlite:calls.db --lookback 9999d --json', {
      cwd,
    });
    expect(JSON.parse(second.stdout)).toMatchObject({ new: 0, changed: 0, same: 200 });

    const mirror = start(
      ['serve', '--store', 'sqlite:calls.db', '--port', '0', '--ready-json'],
      {},
      cwd,
    );
    const { url } = JSON.parse((await mirror.until(/^\{.*\}\n/))[0]);
    const list = ['list', '--all', '--format', 'ndjson', '--include-extensions'];
    const mirrored = await stage.quick(list, { env: { CALLS_BASE_URL: url } });
    expect(mirrored.stdout).toBe((await stage.quick(list)).stdout);
    expect(await mirror.stop('SIGTERM')).toBe(0);
  });

  test('--every repeats it until Ctrl-C, even when the server is down for a while', async () => {
    const cwd = stage.folder();
    const args = ['sync', '--store', 'sqlite:calls.db', '--every', '1s', '--lookback', '9999d'];
    const live = start(args, { ...stage.env }, cwd);
    await live.until(/200 new/);
    stage.sandbox.faults.set('*', [{ status: 500 }]);
    await live.until(/retrying in 1\.0 s/);
    stage.sandbox.faults.clear();
    await live.until(/0 new, 0 changed, 200 the same/);
    expect(await live.stop()).toBe(0);
  });
});
