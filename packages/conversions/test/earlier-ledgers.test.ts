// Ledgers that earlier releases wrote, before a conversion had a key of its own.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ConversionRules,
  changesToSend,
  conversions,
  createTally,
  deliverSheets,
  finishDeliveries,
  type LedgerEntry,
  openLedger,
  openToForget,
  sheetFormats,
} from '@call-attribution/conversions';
import {
  dataManagerAccepts,
  type PushTarget,
  pushConversions,
} from '@call-attribution/conversions/push';
import type { Call } from '@call-attribution/core';
import { periodOf } from '@call-attribution/core/time';
import { readOutcomes, usualWindow } from '@call-attribution/questions';
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earlier-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of a ledger that is kept as it was written. */
function kept(name: 'sheets' | 'pushes' | 'outcomes'): string {
  const path = join(folder, `${name}.ledger`);
  copyFileSync(new URL(`fixtures/ledgers/${name}.ledger`, import.meta.url), path);
  return path;
}

const rules: ConversionRules = {
  timeZone: 'UTC',
  conversionName: 'Phone lead',
  currency: 'USD',
  now: Date.parse('2026-11-21T12:00:00Z'),
  value: (call) => Number(call.talk_minutes),
};
const call = (number: number, more: object = {}): Call =>
  callWith({
    sid: String(number),
    ani: `202555010${number}`,
    date_added: `2026-11-18 14:03:0${number}`,
    talk_minutes: '4.0',
    first_touch: null,
    ppc_gclid: `Cj0KCQ_click-${number}`,
    ...more,
  });

test('sheets go on where an earlier release ended', async () => {
  const path = kept('sheets');
  const format = sheetFormats['google-ads-clicks'];
  const run = async (name: string, ...calls: Call[]) => {
    const ledger = await openLedger(path);
    await finishDeliveries(ledger);
    const tally = createTally();
    const found = conversions(calls, rules, format, ledger.delivered('ads'));
    const changes = await changesToSend(found, tally.add);
    await deliverSheets(ledger, 'ads', changes, format, rules, join(folder, name));
    await ledger.close();
    return tally.summary();
  };

  // The call 1 was restated, 2 was retracted, 3 is as it was.
  const before = [call(1, { talk_minutes: '9.0' }), call(2, { talk_minutes: '0.0' }), call(3)];
  expect(await run('1.csv', ...before)).toMatchObject({
    changes: { add: 0, restate: 0, retract: 0 },
    unchanged: 2,
  });
  const summary = await run('2.csv', call(1), call(2), call(3, { talk_minutes: '0.0' }), call(4));
  expect(summary).toMatchObject({
    changes: { add: 1, restate: 1, retract: 1 },
    uncorrected: [{ sid: '2', what: 'counts_again' }],
  });
  const text = readFileSync(join(folder, '2.adjustments.csv'), 'utf8');
  expect(text).toMatch(/Cj0KCQ_click-1,.*,RESTATE,4\.00,USD\r\n/);
  expect(text).toMatch(/Cj0KCQ_click-3,.*,RETRACT,,\r\n/);
  expect(await run('3.csv', call(1), call(3, { talk_minutes: '0.0' }), call(4))).toMatchObject({
    changes: { add: 0, restate: 0, retract: 0 },
    unchanged: 2,
  });
});

test('a push goes on where an earlier release got no answer', async () => {
  const path = kept('pushes');
  const sent: (readonly [LedgerEntry['action'], string, string | undefined])[] = [];
  const target: PushTarget = {
    most: 10,
    oneKind: false,
    async send(entries, { numbers }) {
      for (const { action, key } of entries) sent.push([action, key, numbers.get(key)]);
      return { isTaken: true, refusals: [], requestId: null };
    },
  };
  const run = async (...calls: Call[]) => {
    const ledger = await openLedger(path);
    const set: ConversionRules = {
      ...rules,
      consent: { adUserData: 'granted', adPersonalization: 'denied' },
    };
    const tool = { accepts: dataManagerAccepts({ phone: true }) };
    const found = conversions(calls, set, tool, ledger.delivered('google'));
    const changes = await changesToSend(found);
    sent.length = 0;
    const summary = await pushConversions(target, changes, { ledger, destination: 'google' });
    await ledger.close();
    return summary;
  };

  // Of 3 it is known that it was refused; 5 and 6 got no answer, and 6 had nothing but its number.
  const calls = [
    call(1, { talk_minutes: '9.0' }),
    call(2),
    call(3),
    call(4, { ppc_gclid: null }),
    call(5, { talk_minutes: '7.0' }),
    call(6, { ppc_gclid: null }),
  ];
  expect(await run(...calls)).toMatchObject({
    resent: 2,
    sent: { add: 3, restate: 2, retract: 0 },
    uncertain: [],
  });
  expect(sent).toEqual([
    ['add', '5', '+12025550105'],
    ['add', '6', '+12025550106'],
    ['restate', '2', '+12025550102'],
    ['restate', '5', '+12025550105'],
    ['add', '3', '+12025550103'],
  ]);
  expect(await run(...calls)).toMatchObject({ resent: 0, sent: { add: 0, restate: 0 } });
});

test('outcomes go on where a release ended that did not note what was read and not sent', async () => {
  const path = kept('outcomes');
  const run = async (...sales: string[]) => {
    const lines = ['phone,time,value,id,status', ...sales];
    const rows = lines.map((line, at) => ({ line: at + 1, cells: line.split(',') }));
    const { all } = readOutcomes([{ name: 'sales.csv', rows }], { timeZone: 'UTC', dates: null });
    const period = periodOf(null, null);
    const outcomes = { all, window: usualWindow, period, isComplete: false };
    const set: ConversionRules = {
      ...rules,
      conversionName: '9',
      value: undefined,
      currency: undefined,
      outcomes,
    };
    const ledger = await openLedger(path);
    const tool = { accepts: dataManagerAccepts({ phone: false }) };
    const has = ledger.delivered('google');
    const found = conversions(
      [1, 2, 3, 4].map((number) => call(number, { date_added: `2026-11-02 14:03:0${number}` })),
      set,
      tool,
      has,
      ledger.seen('google'),
    );
    const said: string[] = [];
    const changes = await changesToSend(found, ({ kind, why }) => said.push(`${kind} ${why}`));
    const send: PushTarget['send'] = async () => ({ isTaken: true, refusals: [], requestId: null });
    await pushConversions({ most: 10, oneKind: false, send }, changes, {
      ledger,
      destination: 'google',
    });
    await ledger.close();
    return said;
  };

  // S1 was restated to 300 on the 10th, S2 was taken back then, S3 is as it was sold on the 3rd.
  expect(
    await run(
      '2025550101,2026-11-03 10:00,250,S1,won',
      '2025550102,2026-11-03 11:00,80,S2,won',
      '2025550103,2026-11-14 12:00,40,S3,paid',
      '2025550104,2026-11-14 12:00,9,S4,refunded',
    ),
  ).toEqual([
    'left-out older_row',
    'left-out older_row',
    'left-out sent_before',
    'left-out cancelled',
  ]);
  expect(
    await run(
      '2025550102,2026-11-14 11:00,80,S2,paid',
      '2025550103,2026-11-04 12:00,50,S3,paid',
      '2025550104,2026-11-04 12:00,9,S4,won',
    ),
  ).toEqual(['left-out older_row', 'left-out older_row', 'restate counts_again']);
});

test('calls are taken out of it as out of any other', async () => {
  const path = kept('pushes');
  const open = await openToForget(path);
  expect(await open.forget(new Set(['1', '3']))).toBe(true);
  await open.close();
  const ledger = await openLedger(path);
  expect([...ledger.delivered('google').keys()]).toEqual(['2', '4', '5', '6']);
  await ledger.close();
});
