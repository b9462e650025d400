import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeApiServer, fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStage } from './stage.ts';

const stage = openStage();
const calls = fixtureCalls(60).map((call, i) => ({
  ...call,
  acct_id: '101',
  ani: `555555${1000 + i}`,
}));
const bad = [calls[7], calls[31], calls[59]].map((call) => call?.sid as string);
/** Which records the server breaks. */
let broken: readonly string[] = bad;
/** A response with the records of `broken` that are no JSON. */
function broke<R extends { readonly body: Buffer }>(response: R): R {
  let body = response.body.toString();
  for (const sid of broken)
    body = body.replace(new RegExp(`("sid":"${sid}".*?"talk_minutes":)"[^"]*"`), '$1 1.2.3');
  return { ...response, body: Buffer.from(body) };
}
let server: FakeApiServer;
let env: Record<string, string>;
beforeAll(async () => {
  server = await fakeApi({
    calls,
    faults: () => ({ change: broke }),
  }).listen();
  env = {
    CALLS_BASE_URL: server.url,
    CALLS_ACCESS_KEY: 'key-one',
    CALLS_SECRET_KEY: 'key-two',
    CALLS_TIME_ZONE: 'UTC',
  };
});
beforeEach(() => {
  broken = bad;
  calls.length = 60;
});
afterAll(() => server.close());

const run = (cwd: string, args: readonly string[]) => stage.quick(args, { cwd, env });
const linesOf = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const sidsIn = (path: string) => linesOf(path).map(({ sid }) => sid as string);
const all = calls.map(({ sid }) => sid).sort();
const good = all.filter((sid) => !bad.includes(sid));

/** No number of a caller and no record may be in what was said. */
function expectDiscreet(stderr: string): void {
  expect(stderr).not.toMatch(/555555|1\.2\.3/);
}

describe('calls export', () => {
  test('it stops at a bad record by default, and names the way out', async () => {
    const cwd = stage.folder();
    const { code, stderr } = await run(cwd, ['export', '-o', 'calls.ndjson']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/not valid JSON[\s\S]*→ --on-bad-record skip/);
    expectDiscreet(stderr);
  });

  test.each(['calls.ndjson', 'calls.csv.gz', 'calls.parquet', '-'])(
    'skip leaves it out of %s and names it, and the result is incomplete',
    async (output) => {
      const cwd = stage.folder();
      const args = ['export', '-o', output, '--rows', '7', '--on-bad-record', 'skip'];
      const { code, stdout, stderr } = await run(cwd, args);
      expect(code).toBe(3);
      expect(stderr).toMatch(
        /INCOMPLETE: 57 calls; 3 calls between [-\d: ]+ and [-\d: ]+ and in 2 more stretches could not be read/,
      );
      expect(
        [...stderr.matchAll(/^left out (\S+): .*not valid JSON/gm)].map(([, sid]) => sid),
      ).toEqual(bad);
      expectDiscreet(stderr);
      if (output === '-') expect(stdout.trimEnd().split('\n')).toHaveLength(57);
      if (output === 'calls.ndjson') expect(sidsIn(join(cwd, output)).sort()).toEqual(good);
    },
  );

  test('a record whose sid cannot be read is named by its place', async () => {
    const cwd = stage.folder();
    broken = [];
    const noSid = await fakeApi({
      calls,
      faults: () => ({
        change: (response) => ({
          ...response,
          body: Buffer.from(response.body.toString().replace(`"sid":"${bad[0]}"`, '"sid":oops')),
        }),
      }),
    }).listen();
    const args = [
      'export',
      '-o',
      'calls.ndjson',
      '--base-url',
      noSid.url,
      '--on-bad-record',
      'skip',
    ];
    const { code, stderr } = await run(cwd, args);
    await noSid.close();
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^left out record \d+ of page 1 of the calls from .+ to .+: /m),
    ]);
  });

  test('a resumed export is still incomplete by what was left out before it stopped', async () => {
    const cwd = stage.folder();
    const args = ['export', '-o', 'calls.ndjson', '--rows', '2', '--on-bad-record', 'skip'];
    const stop = new AbortController();
    const requests = server.requests.length;
    const timer = setInterval(() => {
      if (server.requests.length > requests + 8) stop.abort();
    }, 1);
    const stopped = await stage.quick(args, { cwd, env, signal: stop.signal });
    clearInterval(timer);
    expect(stopped.code).toBe(130);
    const { code, stderr } = await run(cwd, [...args, '--resume']);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(
        /INCOMPLETE: 57 calls; 3 calls between [-\d: ]+ and [-\d: ]+ and in 2 more stretches could not be/,
      ),
    ]);
    expect(sidsIn(join(cwd, 'calls.ndjson')).sort()).toEqual(good);
    const named = [...`${stopped.stderr}${stderr}`.matchAll(/^left out (\S+):/gm)].map(
      ([, sid]) => sid,
    );
    expect([...new Set(named)].sort()).toEqual([...bad].sort());
  });

  test.each(['skp', 'file', 'file:bad.ndjson'])('--on-bad-record %s is refused', async (what) => {
    const cwd = stage.folder();
    const { code, stderr } = await run(cwd, [
      'export',
      '-o',
      'calls.ndjson',
      '--on-bad-record',
      what,
    ]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/cannot be ".*"\n.*use one of: stop, skip/s),
    ]);
  });
});

describe('calls sync', () => {
  const sync = [
    'sync',
    '--store',
    'sqlite:calls.db',
    '--account',
    '101',
    '--lookback',
    '9999d',
    '--json',
  ];

  async function stored(cwd: string): Promise<string[]> {
    const store = await openStore(`sqlite:${join(cwd, 'calls.db')}`);
    const sids: string[] = [];
    for await (const { sid } of store.calls('101')) sids.push(sid);
    await store.close();
    return sids.sort();
  }

  test('it stops by default and names the way out; skip brings in all other calls', async () => {
    const cwd = stage.folder();
    const stopped = await run(cwd, sync);
    expect([stopped.code, stopped.stderr]).toEqual([
      1,
      expect.stringMatching(/→ --on-bad-record skip/),
    ]);
    const skipped = await run(cwd, [...sync, '--on-bad-record', 'skip']);
    expect([skipped.code, JSON.parse(skipped.stdout)]).toEqual([
      3,
      expect.objectContaining({ new: 57, skipped: 3, proof: 'short' }),
    ]);
    expect(skipped.stderr).toMatch(/INCOMPLETE: left out 3 records/);
    for (const sid of bad) expect(skipped.stderr).toContain(`left out ${sid}: `);
    expectDiscreet(skipped.stderr);
    expect(await stored(cwd)).toEqual(good);
  });

  test('the next sync stores what can be read now', async () => {
    const cwd = stage.folder();
    await run(cwd, [...sync, '--on-bad-record', 'skip']);
    broken = [];
    const { code, stderr } = await run(cwd, [...sync, '--on-bad-record', 'skip']);
    expect([code, stderr]).toEqual([0, expect.not.stringMatching(/left out/)]);
    expect(await stored(cwd)).toEqual(all);
  });

  test('a resumed sync goes on where it was, and its copy stays incomplete', async () => {
    const cwd = stage.folder();
    const stop = new AbortController();
    const pages = await fakeApi({
      calls,
      cap: 5,
      faults: () => ({
        change(response) {
          if (pages.requests.length === 9) stop.abort();
          return broke(response);
        },
      }),
    }).listen();
    const args = [...sync, '--base-url', pages.url, '--on-bad-record', 'skip'];
    expect((await stage.quick(args, { cwd, env, signal: stop.signal })).code).toBe(130);
    const resumed = await stage.quick(args, { cwd, env });
    await pages.close();
    expect([resumed.code, JSON.parse(resumed.stdout)]).toEqual([
      3,
      expect.objectContaining({ missing: 3 }),
    ]);
    expect(await stored(cwd)).toEqual(good);
  });
});
