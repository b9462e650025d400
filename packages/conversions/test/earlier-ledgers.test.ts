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
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earlier-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of a ledger that is kept as it was written. */
function kept(name: 'sheets' | 'pushes'): string {
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

test('calls are taken out of it as out of any other', async () => {
  const path = kept('pushes');
  const open = await openToForget(path);
  expect(await open.forget(new Set(['1', '3']))).toBe(true);
  await open.close();
  const ledger = await openLedger(path);
  expect([...ledger.delivered('google').keys()]).toEqual(['2', '4', '5', '6']);
  await ledger.close();
});
