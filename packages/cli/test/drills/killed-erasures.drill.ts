import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type LedgerEntry, openLedger } from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from '../stage.ts';

const tally = openDrill({
  name: 'killed-erasures',
  kind: 'kills',
  what:
    'calls store erase is killed at any moment: a caller who is noted as erased is in no ledger, calls verify says which calls are left, ' +
    'and the next sync deletes them; one who is not noted keeps all calls',
});

const caller = '2125559876';
const number = '+1 (212) 555-9876';
const theirs = 10_000;
let stage: OwnStage;
let cwd = '';
const store = 'sqlite:calls.db';
const sidOf = (i: number): string => `7777${100_000 + i}`;

const entry = (sid: string): LedgerEntry => ({
  action: 'add',
  key: sid,
  sid,
  account: '101',
  click: { kind: 'gclid', id: `click-of-${sid}` },
  at: 0,
  name: 'Lead',
  value: 1,
  currency: 'USD',
});

/** A store with many calls of the caller, more than are deleted at a time, and a ledger. */
beforeAll(async () => {
  stage = await openOwnStage({ records: 600, days: 30 });
  cwd = stage.folder();
  expect((await stage.quick(['sync', '--store', store], { cwd })).code).toBe(0);
  const opened = await openStore(`sqlite:${join(cwd, 'calls.db')}`);
  const [pattern] = fixtureCalls(1);
  const calls = Array.from(
    { length: theirs },
    (_, i) => ({ ...pattern, acct_id: '101', sid: sidOf(i), ani: caller }) as Call,
  );
  await opened.upsert('101', calls);
  await opened.close();
  const ledger = await openLedger(join(cwd, 'uploads.ledger'));
  const entries = [...calls.map(({ sid }) => entry(sid)), entry('stays')];
  const delivery = await ledger.prepare('google-ads-clicks', entries);
  await ledger.commit(delivery, { except: [sidOf(0), 'stays-too'] });
  await ledger.close();
  for (const name of ['calls.db', 'uploads.ledger'])
    copyFileSync(join(cwd, name), join(cwd, `${name}.original`));
});
afterAll(() => stage.close());

/** Starts an erasure, and kills it after a while. How long it took, if it came to its end. */
async function eraseAndKill(after: number): Promise<{ code: number | null; took: number }> {
  const args = ['store', 'erase', '--account', '101', '--store', store];
  const child = spawn(process.execPath, [stage.bin, ...args, '--ledger', 'uploads.ledger'], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.end(`${number}\n`);
  const began = performance.now();
  const timer = setTimeout(() => child.kill('SIGKILL'), after);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code, took: performance.now() - began };
}

/** What is left of the caller in the store, and whether it says that the caller was erased. */
async function leftInStore(): Promise<{ calls: number; isNoted: boolean; isUnfinished: boolean }> {
  const opened = await openStore(`sqlite:${join(cwd, 'calls.db')}`, { readOnly: true });
  const { isErased, isUnfinished } = await opened.removals('101');
  let calls = 0;
  for await (const { ani } of opened.calls('101')) if (ani === caller) calls += 1;
  await opened.close();
  return { calls, isNoted: isErased(caller), isUnfinished };
}

const isInLedger = (): boolean => {
  const text = readFileSync(join(cwd, 'uploads.ledger'), 'utf8');
  expect(text).toContain('click-of-stays');
  expect(text).toContain('stays-too');
  return text.includes('77771');
};

test('an erasure that is killed at any moment is finished, or has not begun', async () => {
  const whole = await eraseAndKill(600_000);
  expect(whole.code).toBe(0);
  const kills = rounds(6, 200);
  for (let kill = 0; kill < kills; kill += 1)
    await tally.run(async () => {
      for (const ending of ['-wal', '-shm'])
        rmSync(join(cwd, `calls.db${ending}`), { force: true });
      for (const name of ['calls.db', 'uploads.ledger'])
        copyFileSync(join(cwd, `${name}.original`), join(cwd, name));

      // Most of the time goes into starting a process: the last third has the work.
      const share = 0.6 + (0.42 * (kill + 1)) / (kills + 1);
      const { code } = await eraseAndKill(whole.took * share);
      const { calls, isNoted, isUnfinished } = await leftInStore();
      const verified = await stage.quick(['verify', store, '--json'], { cwd });
      const codes = JSON.parse(verified.stdout).checks[0].findings.map(
        (finding: { code: string }) => finding.code,
      );
      if (!isNoted) {
        tally.happened(isInLedger() ? 'killed before it began' : 'killed after the ledger');
        expect([calls, isUnfinished, codes]).toEqual([theirs, false, []]);
      } else {
        if (code === 0) tally.happened('ended');
        else tally.happened(calls > 0 ? 'killed with calls left' : 'killed with none left');
        expect(isInLedger()).toBe(false);
        expect([codes.includes('left'), code === 0 && isUnfinished]).toEqual([calls > 0, false]);
        if (calls > 0) expect([verified.code, isUnfinished]).toEqual([3, true]);
      }

      // Who has begun is finished by a sync, who has not by the same command.
      if (!isNoted) expect((await eraseAndKill(600_000)).code).toBe(0);
      expect((await stage.quick(['sync', '--store', store], { cwd })).code).toBe(0);
      expect(await leftInStore()).toEqual({ calls: 0, isNoted: true, isUnfinished: false });
      expect(isInLedger()).toBe(false);
      const proved = await stage.quick(['verify', store], { cwd });
      expect([proved.code, proved.stdout]).toEqual([0, expect.stringContaining(': proved, 600 ')]);
    });
}, 3_600_000);
