import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtureCalls, startHostileServer } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, expect, test } from 'vitest';
import { openStage } from '../stage.ts';

const stage = openStage();
afterAll(() => stage.close());
const repeats = rounds(3, 30);
const tally = openDrill({
  name: 'bad-records',
  kind: 'odd records',
  what: 'A fifth of the records cannot be stored; `calls sync --on-bad-record file` is killed with SIGKILL; each record is in the store or in the file, once, and the file has whole lines',
});

const calls = fixtureCalls(1200).map((call) => ({ ...call, acct_id: '101' }));
const isBad = (at: number): boolean => at % 5 === 2;
const bad = new Set(calls.filter((_, at) => isBad(at)).map(({ sid }) => sid));
const breakRecord = (text: string): string =>
  text.replace(/"sid":"([^"]+)".*?"talk_minutes":("[^"]*")/g, (found, sid, minutes) =>
    bad.has(sid) ? `${found.slice(0, -minutes.length)}${minutes.slice(1, -1)}.3.4` : found,
  );

test('a sync that is killed at any moment loses no record and doubles none', async () => {
  const server = await startHostileServer({
    calls,
    maxRows: 60,
    fault: () => ({
      change: (response) => ({ ...response, body: Buffer.from(breakRecord(response.body.toString())) }),
    }),
  });
  const env = {
    PATH: process.env.PATH ?? '',
    CALLS_BASE_URL: server.url,
    CALLS_ACCESS_KEY: 'a',
    CALLS_SECRET_KEY: 'b',
  };
  /** Runs a command until it ends by itself, with up to four kills before. */
  const untilDone = async (args: readonly string[], cwd: string): Promise<number | null> => {
    for (let attempt = 1; ; attempt += 1) {
      const { code, signal } = await tally.run(async () => {
        const child = spawn(process.execPath, [stage.bin, ...args], {
          cwd,
          env: { ...env, HOME: cwd },
          stdio: 'ignore',
        });
        const timer =
          attempt > 4 ? undefined : setTimeout(() => child.kill('SIGKILL'), 150 + Math.random() * 900);
        const ended = await new Promise<{ code: number | null; signal: string | null }>((resolve) =>
          child.on('close', (code, signal) => resolve({ code, signal })),
        );
        clearTimeout(timer);
        return ended;
      });
      if (signal === null) return code;
      tally.happened('kills');
    }
  };
  for (let round = 0; round < repeats; round += 1) {
    const cwd = stage.folder();
    const setAside = (): string[] =>
      readFileSync(join(cwd, 'calls.db.bad-records.ndjson'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).sid);
    const stored = async (): Promise<string[]> => {
      const store = await openStore(`sqlite:${join(cwd, 'calls.db')}`);
      const sids: string[] = [];
      for await (const { sid } of store.calls('101')) sids.push(sid);
      await store.close();
      return sids;
    };
    const sync = ['sync', '--store', 'sqlite:calls.db', '--account', '101', '--on-bad-record', 'file'];
    if ((await untilDone(sync, cwd)) !== 0) tally.add({ lied: 1 });
    tally.compare(
      calls.map(({ sid }) => sid),
      [...(await stored()), ...setAside()],
    );
  }
  await server.close();
  expect(tally.counts).toMatchObject({ lost: 0, doubled: 0, hung: 0, lied: 0 });
  expect(tally.events.kills).toBeGreaterThan(repeats);
});
