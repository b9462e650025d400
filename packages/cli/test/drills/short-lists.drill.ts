import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type FakeApiServer, fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { formatNaive } from '@call-attribution/core/time';
import { callWith } from '@call-attribution/test-tools/call-with';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, openStage } from '../stage.ts';

// Over commands, HTTP and files only: what is underneath may change.

const tally = openDrill({
  name: 'short-lists',
  kind: 'kills',
  what: 'A server lists fewer calls than it counts while syncs are killed; no run says that the copy is whole, and one run after the server is well makes it equal',
});
const stage = openStage();
const calls = fixtureCalls(1200).map((call) => ({ ...call, acct_id: '101' }));
const sids = calls.map(({ sid }) => sid).sort();
let server: FakeApiServer;
beforeAll(async () => {
  server = await fakeApi({ calls, order: 'oldest', cap: 50 }).listen();
});
afterAll(() => server.close());

const env = (cwd: string) => ({
  PATH: process.env.PATH ?? '',
  HOME: cwd,
  CALLS_BASE_URL: server.url,
  CALLS_ACCESS_KEY: 'a-key-of-many-letters',
  CALLS_SECRET_KEY: 'a-secret-of-many-letters',
});

/** Runs `calls`; `killAt`: it is killed once the server has answered so many of its requests. */
async function run(cwd: string, args: readonly string[], killAt = Number.POSITIVE_INFINITY) {
  const child = spawn(process.execPath, [stage.bin, ...args], { cwd, env: env(cwd) });
  const out: string[] = [];
  const err: string[] = [];
  child.stdout.on('data', (part: Buffer) => out.push(String(part)));
  child.stderr.on('data', (part: Buffer) => err.push(String(part)));
  const closed = once(child, 'close');
  const limit = server.requests.length + killAt;
  while (child.exitCode === null && child.signalCode === null) {
    if (server.requests.length >= limit) child.kill('SIGKILL');
    await Promise.race([closed, delay(5)]);
  }

  await closed;
  return { code: child.exitCode, stdout: out.join(''), stderr: err.join('') };
}

/** The sids of a copy, by commands. */
async function sidsOf(cwd: string, store: string): Promise<string[]> {
  const args = ['export', '-o', '-', '--include-extensions', '--store', store];
  const { stdout } = await run(cwd, args);
  return [...stdout.matchAll(/"sid":"([^"]+)"/g)].map(([, sid]) => sid ?? '').sort();
}

const store = 'sqlite:calls.db';
const kills = rounds(1, 40);

test('killed syncs of a list that is short for a while', { timeout: 600_000 }, async () => {
  for (let round = 0; round < kills; round += 1)
    await tally.run(async () => {
      const cwd = stage.folder();
      const sync = ['sync', '--store', store, '--account', '101'];
      server.hidden = new Set(sids.filter((_, i) => i % (7 + round) === round % 7));
      for (const killAt of [3 + round, 9 + 2 * round, 2]) {
        const { code, stderr } = await run(cwd, sync, killAt);
        expect([null, 3]).toContain(code);
        if (code === 3) expect(stderr).toMatch(/the next run (reads them again|goes on there)/);
        else tally.happened('kills');
      }

      const short = await run(cwd, sync);
      expect([short.code, short.stderr]).toEqual([
        3,
        expect.stringMatching(
          new RegExp(`the server counts more calls .*: ${server.hidden.size} calls are missing`),
        ),
      ]);
      server.hidden = new Set();
      const well = await run(cwd, sync);
      expect([well.code, well.stderr]).toEqual([0, expect.not.stringContaining('short:')]);
      tally.compare(sids, await sidsOf(cwd, store));
    });
});

test(
  'a sync that repeats goes on, is not ready while the copy is short, and is ready once it is whole',
  { timeout: 120_000 },
  () =>
    tally.run(async () => {
      const cwd = stage.folder();
      const port = await freePort();
      server.hidden = new Set(sids.slice(100, 120));
      const args = ['sync', '--store', 'sqlite:calls.db', '--account', '101', '--every', '1s'];
      const stop = start(cwd, [...args, '--status-port', String(port)]);
      const ready = await until(port, '/readyz', (text) => text.includes('not whole'));
      expect(ready).toMatch(
        /^503 the copy is not whole: at the end the server counts more calls .*: 20 calls are missing/,
      );
      expect(await ask(port, '/metrics')).toMatch(/^calls_sync_missing 20$/m);
      server.hidden = new Set();
      expect(await until(port, '/readyz', (text) => text.startsWith('200'))).toBe('200 ready\n');
      expect(await ask(port, '/metrics')).toMatch(/^calls_sync_missing 0$/m);
      await stop();
      tally.compare(sids, await sidsOf(cwd, 'sqlite:calls.db'));
    }),
);

test(
  'feeds over a copy that is short carry on, and /feeds says what they lack',
  { timeout: 240_000 },
  () =>
    tally.run(async () => {
      const cwd = stage.folder();
      const port = await freePort();

      // A feed has the last days only, so its calls are of these: from 22 to 2 days ago.
      const hours = Array.from({ length: 480 }, (_, i) => Date.now() - (48 + i) * 3_600_000);
      const recent = hours.map((at, i) =>
        callWith({ sid: `r${i}`, date_added: formatNaive(at), ppc_gclid: `Cj0KCQ_click-${i}` }),
      );
      const short = await fakeApi({ calls: recent, order: 'oldest', cap: 50 }).listen();
      short.hidden = new Set(recent.slice(100, 120).map(({ sid }) => sid));
      const feed = {
        path: '/feeds/clicks.csv',
        format: 'google-ads-clicks',
        account: '101',
        window: '30d',
      };
      const feeds = [{ ...feed, conversionName: 'Phone lead' }];
      writeFileSync(join(cwd, 'feeds.json'), JSON.stringify({ timeZone: 'UTC', feeds }));
      const args = [
        'serve',
        '--feeds',
        'feeds.json',
        '--store',
        store,
        '--account',
        '101',
        '--every',
        '1s',
      ];
      const stop = start(cwd, [...args, '--port', String(port)], { CALLS_BASE_URL: short.url });
      const lacks = /INCOMPLETE: at the end the server counts more calls .*: 20 calls are missing/;
      expect(await until(port, '/feeds', (text) => lacks.test(text))).toMatch(/^200 /);
      const fetched = await ask(port, feed.path);
      expect(fetched).toMatch(/^200 Google Click ID,/);
      const clicks = fetched.match(/Cj0KCQ_click-\d+/g) ?? [];
      tally.compare(
        recent
          .filter(({ sid }) => !short.hidden.has(sid))
          .map(({ ppc_gclid }) => String(ppc_gclid)),
        clicks,
      );
      expect(await until(port, '/readyz', (text) => text.includes('not whole'))).toMatch(
        /^503 the copy is not whole: at the end the server counts more calls .*: 20 calls are missing/,
      );
      short.hidden = new Set();
      expect(
        await until(port, '/feeds', (text) => /^200 /.test(text) && !/INCOMPLETE/.test(text)),
      ).toContain(feed.path);
      expect(await until(port, '/readyz', (text) => text.startsWith('200'))).toBe('200 ready\n');
      await stop();
      await short.close();
    }),
);

/**
 * Starts `calls` and returns what stops it. What it says is not read, and a pipe that is full would
 * stop it.
 */
function start(
  cwd: string,
  args: readonly string[],
  more: Record<string, string> = {},
): () => Promise<void> {
  const options = { cwd, env: { ...env(cwd), ...more }, stdio: 'ignore' } as const;
  const child = spawn(process.execPath, [stage.bin, ...args], options);
  const closed = once(child, 'close');
  return async () => {
    child.kill('SIGTERM');
    await closed;
  };
}

async function ask(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
  return response === null ? '' : `${response.status} ${await response.text()}`;
}

async function until(port: number, path: string, isIt: (text: string) => boolean): Promise<string> {
  for (let text = await ask(port, path); ; text = await ask(port, path)) {
    if (text !== '' && isIt(text)) return text;
    await delay(50);
  }
}
