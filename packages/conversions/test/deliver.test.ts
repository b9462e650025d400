import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  type Change,
  type ConversionRules,
  changesToSend,
  checkRetractions,
  conversions,
  createTally,
  type Delivery,
  deliverSheets,
  finishDeliveries,
  type Ledger,
  openLedger,
  type SheetFormat,
  sheetFormats,
  uncorrectedLines,
} from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { wrongCells } from './read-sheet.ts';

let folder: string;
let ledger: Ledger;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deliver-'));
  ledger = await openLedger(join(folder, 'uploads.ledger'));
});
afterEach(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

const rules: ConversionRules = {
  timeZone: 'America/New_York',
  conversionName: 'Phone lead',
  currency: 'USD',
  value: (call) => (Number(call.talk_minutes) >= 10 ? 80 : 20),
  now: Date.parse('2026-11-21T12:00:00Z'),
};
const msclkid = 'f894f652ea334e739002f7167ab8f8e3';
const call = (sid: string, changes: Record<string, unknown> = {}): Call =>
  callWith({
    sid,
    date_added: `2026-11-18 14:03:0${sid}`,
    first_touch: `https://shop.example/?gclid=Cj0KCQ_${sid}&msclkid=${msclkid}&k_clickid=kc-${sid}&mkwid=s8Hx2k`,
    ppc_gclid: `Cj0KCQ_${sid}`,
    channel: 'Call Extension',
    ...changes,
  });

const changes = (format: SheetFormat, calls: readonly Call[]): Promise<Change[]> =>
  changesToSend(conversions(calls, rules, format, ledger.delivered(format.name)));

/** What there is to say about calls, counted. */
const counted = async (format: SheetFormat, calls: readonly Call[], now = rules.now) => {
  const tally = createTally();
  const set = { ...rules, now };
  await changesToSend(conversions(calls, set, format, ledger.delivered(format.name)), tally.add);
  return tally.summary();
};
const nothing = { changes: { add: 0, restate: 0, retract: 0 }, uncorrected: [], uncertain: [] };
const deliver = async (format: SheetFormat, calls: readonly Call[], name: string) =>
  deliverSheets(
    ledger,
    format.name,
    await changes(format, calls),
    format,
    rules,
    join(folder, name),
  );
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

const clicks = sheetFormats['google-ads-clicks'];
const before = [call('1'), call('2'), call('3'), call('4')];
// The same calls a day later: another value, not answered after all, another click, and a call that
// is new.
const after = [
  call('1', { talk_minutes: '12.0' }),
  call('2', { talk_minutes: '0.0' }),
  call('3', { ppc_gclid: 'Cj0KCQ_late' }),
  call('4'),
  call('5'),
];

test('a second sheet has only what is new, and adjustments go to a sheet of their own', async () => {
  expect(await deliver(clicks, before, 'first.csv')).toMatchObject({ destination: clicks.name });
  expect(read('first.csv').split('\r\n')).toHaveLength(7);
  expect(existsSync(join(folder, 'first.adjustments.csv'))).toBe(false);
  expect(await deliver(clicks, before, 'second.csv')).toBeNull();
  expect(existsSync(join(folder, 'second.csv'))).toBe(false);

  await deliver(clicks, after, 'third.csv');
  expect(read('third.csv')).toBe(
    'Parameters:TimeZone=America/New_York,,,,\r\n' +
      'Google Click ID,Conversion Name,Conversion Time,Conversion Value,Conversion Currency\r\n' +
      'Cj0KCQ_late,Phone lead,2026-11-18 14:03:03-0500,20.00,USD\r\n' +
      'Cj0KCQ_5,Phone lead,2026-11-18 14:03:05-0500,20.00,USD\r\n',
  );
  expect(read('third.adjustments.csv')).toBe(
    readFileSync(new URL('golden/google-ads-adjustments.txt', import.meta.url), 'utf8'),
  );
  expect(wrongCells(read('third.adjustments.csv'), clicks.adjustments as never, rules)).toEqual([]);
  expect(await changes(clicks, after)).toEqual([]);
  expect(await counted(clicks, after)).toMatchObject({ ...nothing, unchanged: 4 });
});

test('adjustments for Microsoft Advertising are a bulk file', async () => {
  for (const name of ['microsoft-ads', 'microsoft-bulk'] as const) {
    const format = sheetFormats[name];
    await deliver(format, before, `${name}.csv`);
    await deliver(format, after, `${name}-2.csv`);
    const text = read(`${name}-2.adjustments.csv`);
    expect(text).toBe(
      readFileSync(new URL('golden/microsoft-adjustments.txt', import.meta.url), 'utf8'),
    );
    expect(wrongCells(text, format.adjustments as never, rules)).toEqual([]);
  }
});

test('where the tool takes no adjustments, what has changed is listed and not uploaded again', async () => {
  for (const name of ['google-ads-calls', 'sa360', 'marin', 'skai'] as const) {
    const format = sheetFormats[name];
    await deliver(format, before, `${name}.csv`);
    const found = await changes(format, after);
    const sent = found.filter(({ kind }) => kind !== 'left-out');
    expect(sent, name).toMatchObject([{ kind: 'add', conversion: { sid: '5' } }]);
    expect((await counted(format, after)).uncorrected.length, name).toBeGreaterThan(0);
  }

  expect((await counted(sheetFormats.sa360, after)).uncorrected).toEqual([
    { sid: '1', what: 'value_changed' },
    { sid: '2', what: 'no_conversion' },
    { sid: '3', what: 'click_changed' },
  ]);
  expect((await counted(sheetFormats.skai, after)).uncorrected).toEqual([
    { sid: '2', what: 'no_conversion' },
  ]);
  expect(uncorrectedLines(await counted(sheetFormats.sa360, after))[0]).toBe(
    '  1  value_changed: the call now has another value',
  );
});

test('a conversion that was retracted and counts again is listed, because tools ignore it', async () => {
  await deliver(clicks, before, '1.csv');
  await deliver(clicks, [call('2', { talk_minutes: '0.0' })], '2.csv');
  expect(await counted(clicks, [call('2')])).toMatchObject({
    ...nothing,
    uncorrected: [{ sid: '2', what: 'counts_again' }],
  });
});

test('a run that would take back much of what was uploaded is refused, with its reasons', async () => {
  const many = Array.from({ length: 100 }, (_, i) =>
    call(String(i), {
      date_added: `2026-11-18 14:${String(i % 60).padStart(2, '0')}:00`,
      ppc_gclid: `Cj0KCQ_many${i}`,
    }),
  );
  const without = (count: number) =>
    many.map((one, i) => (i < count ? { ...one, talk_minutes: i === 0 ? '0.1' : '0.0' } : one));
  await deliver(clicks, many, 'many.csv');
  const check = async (count: number) => checkRetractions(await counted(clicks, without(count)));
  await check(20);
  await expect(check(21)).rejects.toMatchObject({
    code: 'retracts_much',
    message: expect.stringContaining(
      'take back 21 of 100 conversions that were uploaded: 20 unanswered (nobody answered the call), 1 too_short (',
    ),
  });

  // Another time zone gives each conversion another time, and so another conversion.
  const elsewhere = { ...rules, timeZone: 'Europe/Berlin' };
  const tally = createTally();
  const known = ledger.delivered(clicks.name);
  await changesToSend(conversions(many, elsewhere, clicks, known), tally.add);
  expect(() => checkRetractions(tally.summary())).toThrow('100 click_changed');
});

test('21 of many calls may be taken back', () => {
  const retracted = new Map([['unanswered', 21]] as const);
  const changes = { add: 0, restate: 0, retract: 21 };
  expect(() => checkRetractions({ changes, retracted, held: 419 })).toThrow(/21 of 419/);
  checkRetractions({ changes, retracted, held: 420 });
});

test('a call that is only too old or too recent by now is not retracted', async () => {
  await deliver(clicks, before, '1.csv');
  const later = rules.now + 120 * 86_400_000;
  expect(await counted(clicks, before, later)).toMatchObject({ ...nothing, unchanged: 0 });
});

test('a name that ends in .gz gets a compressed file', async () => {
  await deliver(clicks, before, 'first.csv.gz');
  expect(gunzipSync(readFileSync(join(folder, 'first.csv.gz'))).toString()).toMatch(
    /^Parameters:TimeZone=/,
  );
});

test('a sheet that may not have been uploaded is never replaced', async () => {
  await deliver(clicks, before, 'clicks.csv');
  await expect(deliver(clicks, after, 'clicks.csv')).rejects.toThrow(
    /clicks\.csv exists already\. If it was uploaded/,
  );
  expect((await counted(clicks, after)).changes.add).toBe(2);
  rmSync(join(folder, 'clicks.csv'));
  await deliver(clicks, after, 'clicks.csv');
});

/** Leaves the second delivery as a run that was killed before it could commit, with its files there. */
async function interrupted(into = '.'): Promise<Delivery> {
  await deliver(clicks, before, join(into, 'first.csv'));
  await deliver(clicks, after, join(into, 'clicks.csv'));
  await ledger.close();

  // The journal without its last line is that of a run that was killed before it could commit.
  const path = join(folder, 'uploads.ledger');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/[^\n]*\n$/, ''));
  ledger = await openLedger(path);
  const pending = ledger.pending(clicks.name);
  expect(pending?.files).toHaveLength(2);
  return pending as Delivery;
}

/** The ledger, as if its unfinished delivery had been noted otherwise. */
const noting = (changes: Partial<Delivery>): Ledger => ({
  ...ledger,
  pending(destination) {
    const delivery = ledger.pending(destination);
    return delivery && { ...delivery, ...changes };
  },
});

test.each(['prepared', 'one renamed', 'all renamed', 'uploaded and removed'])(
  'a delivery that was interrupted when its files were %s is finished, neither twice nor not at all',
  async (when) => {
    const pending = await interrupted();
    const texts = () => pending.files.map(({ path }) => existsSync(path) && readFileSync(path));
    const sheets = when === 'uploaded and removed' ? [false, false] : texts();
    for (const [at, { path, prepared }] of pending.files.entries()) {
      if (when === 'prepared' || (when === 'one renamed' && at === 1)) renameSync(path, prepared);
      if (when === 'uploaded and removed') rmSync(path);
    }

    expect(await finishDeliveries(ledger)).toHaveLength(1);
    expect(texts()).toEqual(sheets);
    expect(await changes(clicks, after)).toEqual([]);
    expect(await finishDeliveries(ledger)).toEqual([]);
  },
);

test('a container with another name finishes it where the prepared files are', async () => {
  const { files } = await interrupted();
  const [first, second] = files;
  renameSync(String(second?.path), String(second?.prepared));
  expect(await finishDeliveries(noting({ host: 'container-of-yesterday' }))).toHaveLength(1);
  expect([existsSync(String(first?.path)), existsSync(String(second?.path))]).toEqual([true, true]);
  expect(await finishDeliveries(ledger)).toEqual([]);
});

test('a sheet of the same name on another machine is not taken for it, and the way on is said', async () => {
  const { files } = await interrupted();
  const elsewhere = noting({ host: 'container-of-yesterday' });
  const error = await finishDeliveries(elsewhere).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'unfinished' });
  for (const said of ['the machine container-of-yesterday', folder, files[0]?.prepared])
    expect(String(error)).toContain(said);
  renameSync(String(files[0]?.path), String(files[0]?.prepared));
  expect(await finishDeliveries(elsewhere)).toHaveLength(1);
});

test('a folder that is not mounted stops the run: nothing counts as uploaded that is in no sheet', async () => {
  const share = join(folder, 'share');
  mkdirSync(share);
  const { files } = await interrupted('share');
  for (const { path, prepared } of files) renameSync(path, prepared);
  const journal = read('uploads.ledger');
  renameSync(share, join(folder, 'away'));

  for (const isEmpty of [false, true]) {
    if (isEmpty) mkdirSync(share);
    const error = await finishDeliveries(ledger).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'unfinished' });
    expect(String(error)).toContain(`are not in ${share} here. Mount that folder`);
    expect(read('uploads.ledger')).toBe(journal);
  }

  rmSync(share, { recursive: true });
  renameSync(join(folder, 'away'), share);
  expect(await finishDeliveries(ledger)).toHaveLength(1);
  expect(existsSync(join(share, 'clicks.csv'))).toBe(true);
});

test('a note of an earlier release does not say which folder: an empty file in place of an uploaded sheet goes on', async () => {
  const { files } = await interrupted();
  for (const { path } of files) rmSync(path);
  const old = noting({ files: files.map(({ path, prepared }) => ({ path, prepared })) });
  await expect(finishDeliveries(old)).rejects.toThrow(/an empty file/);
  writeFileSync(String(files[0]?.prepared), '');
  expect(await finishDeliveries(old)).toHaveLength(1);
  expect(await changes(clicks, after)).toEqual([]);
});

test('what a run that was killed while it wrote has left is removed by the next run', async () => {
  const first = await changes(clicks, before);
  // A run that never gets to the note that its files are complete.
  await new Promise<void>((written) => {
    const prepare = () => {
      written();
      return new Promise<never>(() => {});
    };
    const killed: Ledger = { ...ledger, prepare };
    void deliverSheets(killed, clicks.name, first, clicks, rules, join(folder, 'monday.csv'));
  });
  const prepared = (): string[] => readdirSync(folder).filter((name) => /prepared/.test(name));
  expect(prepared()).toHaveLength(1);
  writeFileSync(join(folder, `${prepared()[0]}.0123456789ab.new`), 'half of it');
  // One that another ledger has noted stays.
  const others = join(folder, 'monday.csv.89abcdef.prepared');
  writeFileSync(others, 'of another ledger');

  await ledger.close();
  for (const name of readdirSync(folder)) if (/\.lock\./.test(name)) rmSync(join(folder, name));
  ledger = await openLedger(join(folder, 'uploads.ledger'));
  expect(await finishDeliveries(ledger)).toEqual([]);
  expect(prepared()).toEqual(['monday.csv.89abcdef.prepared']);
  rmSync(others);

  // It is as if there had been no run.
  expect(await deliver(clicks, before, 'tuesday.csv')).not.toBeNull();
  const journal = read('uploads.ledger');
  expect(await finishDeliveries(ledger)).toEqual([]);
  expect(read('uploads.ledger')).toBe(journal);
});

test.each([
  ['another file', (at: string) => ({ path: join(at, 'public'), prepared: join(at, 'secret') })],
  [
    'a name that looks like one',
    (at: string) => ({ path: join(at, 'secret'), prepared: join(at, 'secret.prepared') }),
  ],
  [
    'a path through another folder',
    (at: string) => ({
      path: `${at}/x/../public`,
      prepared: `${at}/x/../public.01234567.prepared`,
    }),
  ],
  ['a relative path', () => ({ path: 'public', prepared: 'public.01234567.prepared' })],
])(
  'a ledger that somebody else has written cannot have files renamed or removed: %s',
  async (_, of) => {
    mkdirSync(join(folder, 'x'));
    const file = of(folder);
    for (const name of [file.prepared, join(folder, 'secret')])
      if (name.startsWith('/')) writeFileSync(join(name), 'mine');
    await ledger.announce('google-ads-clicks', [file]);
    await expect(finishDeliveries(ledger)).rejects.toMatchObject({ code: 'ledger_damaged' });
    await ledger.prepare('google-ads-clicks', [], [file]);
    await expect(finishDeliveries(ledger)).rejects.toMatchObject({ code: 'ledger_damaged' });
    expect(existsSync(file.path)).toBe(file.path.endsWith('secret'));
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('mine');
  },
);
