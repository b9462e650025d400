import { fixtureCalls } from '@call-attribution/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLive } from '../live.ts';
import { type ShortServer, startShortServer } from '../short-server.ts';
import { type OwnStage, openOwnStage } from '../stage.ts';

const calls = fixtureCalls(40).map((call) => ({ ...call, acct_id: '101' }));
const byTime = [...calls].sort((a, b) => (a.date_added < b.date_added ? -1 : 1));
const late = byTime.slice(-3);
const from = byTime[30]?.date_added ?? '';
let server: ShortServer;
let stage: OwnStage;
beforeAll(async () => {
  stage = await openOwnStage({ records: 1 });
  server = await startShortServer(calls, 100);
});
afterAll(async () => {
  await server.close();
  await stage.close();
});

describe('calls list --follow', () => {
  test.each([
    [[], (sid: string) => new RegExp(`^${byTime.find((call) => call.sid === sid)?.date_added} `, 'm')],
    [['--json'], (sid: string) => new RegExp(`"sid":"${sid}"`)],
  ])('shows each call once, those that come later, too, until Ctrl-C: %j', async (args, shown) => {
    server.hidden = new Set(late.map(({ sid }) => sid));
    const env = { CALLS_BASE_URL: server.url, CALLS_ACCESS_KEY: 'a', CALLS_SECRET_KEY: 'b' };
    const live = startLive(stage, ['list', '--follow', '--from', from, '--every', '1s', ...args], env);
    await live.until(shown(byTime[36]?.sid ?? ''));
    for (const { sid } of late) expect(live.said().stdout).not.toMatch(shown(sid));
    server.hidden = new Set();
    for (const { sid } of late) await live.until(shown(sid));
    expect(await live.stop()).toBe(0);
    const lines = live.said().stdout.trim().split('\n');
    expect(lines).toHaveLength(10 + (args.length === 0 ? 1 : 0));
    expect(new Set(lines).size).toBe(lines.length);
  });

  test('without a time zone it asks for --from or one', async () => {
    const env = { CALLS_TIME_ZONE: '' };
    expect(await stage.quick(['list', '--follow'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/needs a time zone/),
    });
  });
});
