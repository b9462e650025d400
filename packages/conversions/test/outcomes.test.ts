import {
  type CallChange,
  type ConversionRules,
  changesToSend,
  conversions,
  createTally,
  type Delivered,
  type Journal,
  type LedgerEntry,
  openLedger,
  RulesError,
  type Seen,
  type SheetFormat,
  sheetFormats,
  summaryLines,
  toSheet,
} from '@call-attribution/conversions';
import {
  dataManagerAccepts,
  type PushTarget,
  pushConversions,
} from '@call-attribution/conversions/push';
import type { Call } from '@call-attribution/core';
import { parseNaive, periodOf } from '@call-attribution/core/time';
import { withoutCalls } from '@call-attribution/node-stream/copies';
import { readOutcomes, usualWindow } from '@call-attribution/questions';
import { callWith } from '@call-attribution/test-tools/call-with';
import { describe, expect, test } from 'vitest';

const zone = 'America/New_York';
const clicks = sheetFormats['google-ads-clicks'];
const byId = { accepts: dataManagerAccepts({ phone: false }) };
const number = '2025550123';
const gclid = (letter: string) => `${letter}j0KCQiA_click-${letter}`;

const call = (sid: string, date: string, changes: Record<string, unknown> = {}): Call =>
  callWith({
    sid,
    date_added: date,
    displayed_timestamp: date,
    ppc_gclid: gclid(sid),
    talk_end: null,
    ani: number,
    ...changes,
  });

const calls = [
  call('A', '2026-11-02 10:00:00', { talk_minutes: '0.0' }),
  call('B', '2026-11-05 10:00:00', { talk_minutes: '0.2' }),
  call('N', '2026-11-05 10:00:00', {
    ani: '2025550188',
    ppc_gclid: null,
    landing_page: null,
    conversion_page: null,
    first_touch: null,
  }),
];

const rows = (lines: string) =>
  lines
    .trim()
    .split('\n')
    .map((line, i) => ({ line: i + 1, cells: line.trim().split(',') }));

/** Rules for what files say, each a text with its lines. */
const rulesFor = (
  files: readonly string[],
  outcomes: Partial<ConversionRules['outcomes']> = {},
  changes: Partial<ConversionRules> = {},
): ConversionRules => ({
  timeZone: zone,
  conversionName: 'Sale',
  now: Date.parse('2026-11-28T12:00:00Z'),
  outcomes: {
    all: readOutcomes(
      files.map((lines, i) => ({ name: `${i + 1}.csv`, rows: rows(lines) })),
      { timeZone: zone, dates: null },
    ).all,
    window: usualWindow,
    period: periodOf(null, null),
    isComplete: false,
    ...outcomes,
  },
  ...changes,
});

type Tool = Pick<SheetFormat, 'accepts'> & Partial<SheetFormat>;

const changesOf = async (
  rules: ConversionRules,
  { tool = clicks as Tool, has = new Map() as Delivered, of = calls } = {},
): Promise<CallChange[]> => {
  const found: CallChange[] = [];
  for await (const change of conversions(of, rules, tool, has)) found.push(change);
  return found;
};

/** What the tool has after some changes. */
const after = (changes: readonly CallChange[], has: Delivered = new Map()): Delivered => {
  const now = new Map<string, LedgerEntry>(has);
  for (const { kind, entry } of changes)
    if (kind !== 'left-out' && entry !== null) now.set(entry.key, entry);
  return now;
};

const short = (changes: readonly CallChange[]) =>
  changes.map(({ kind, call: own, why, entry, conversion }) =>
    [kind, own?.sid ?? '-', why ?? conversion?.value, entry?.value].join(' '),
  );

const head = 'phone,time,value,id,status';
const sale = `${number},2026-11-06 15:00:00,250,17,won`;

describe('an outcome', () => {
  test('is a conversion by the click of its call, with its own time and value, whatever the talk was', async () => {
    const [change] = await changesOf(rulesFor([`${head}\n${sale}`]));
    expect(change).toMatchObject({
      kind: 'add',
      call: { sid: 'B' },
      conversion: {
        sid: 'B',
        click: { kind: 'gclid', id: gclid('B') },
        at: Date.parse('2026-11-06T15:00:00-05:00'),
        value: 250,
        currency: null,
        name: 'Sale',
      },
    });
    const key = change?.entry?.key ?? '';
    expect(key).toMatch(/^outcome-[0-9a-f]{40}$/);
    expect(JSON.stringify(change?.entry)).not.toContain(number);
  });

  test('is written into the sheet with the time of the sale', async () => {
    const rules = rulesFor([`${head},currency\n${sale},USD`]);
    const lines: Uint8Array[] = [];
    for await (const line of toSheet(clicks, rules)(await changesOf(rules))) lines.push(line);
    expect(Buffer.concat(lines).toString().split('\r\n')[2]).toBe(
      `${gclid('B')},Sale,2026-11-06 15:00:00-0500,250.00,USD`,
    );
  });

  test('of a date alone is in the first hour of its day or after its call, and stays there', async () => {
    const days = `${number},2026-11-05,1,a,\n${number},2026-11-06,2,b,\n${number},2026-11-06,3,c,`;
    const timesOf = async (rows: string) => {
      const found = await changesOf(rulesFor([`${head}\n${rows}`]));
      return Object.fromEntries(found.map(({ conversion: c }) => [c?.value, c?.at ?? 0]));
    };
    const times = await timesOf(days);
    const after = (begin: string, at = 0) => at - Date.parse(begin);
    expect(after('2026-11-05T15:00:01Z', times[1])).toBeGreaterThanOrEqual(0);
    expect(after('2026-11-05T15:00:01Z', times[1])).toBeLessThan(3_600_000);
    expect(after('2026-11-06T05:00:00Z', times[2])).toBeGreaterThanOrEqual(0);
    expect(after('2026-11-06T05:00:00Z', times[2])).toBeLessThan(3_600_000);
    expect(times[2]).not.toBe(times[3]);
    expect(await timesOf(`${number},2026-11-06,4,d,\n${days}`)).toMatchObject(times);
  });

  test('has a time of its own beside others of its click', async () => {
    const twice = `${head}\n${number},2026-11-06 08:00,1,a,\n${number},2026-11-06 08:00,2,b,`;
    const timesOf = (changes: readonly CallChange[]) =>
      changes.map(({ conversion }) => new Date(conversion?.at ?? 0).toISOString().slice(14, 19));
    const first = await changesOf(rulesFor([twice]));
    expect(timesOf(first)).toEqual(['00:00', '00:01']);
    const more = rulesFor([`${twice}\n${number},2026-11-06 08:00,3,c,`]);
    expect(timesOf(await changesOf(more, { has: after(first) }))).toEqual([
      '00:00',
      '00:01',
      '00:02',
    ]);
  });

  test('without an id is known by its call, its time and its place', async () => {
    const twice = `phone,time,value\n${number},2026-11-06 08:00,1\n${number},2026-11-06 08:00,1`;
    const found = await changesOf(rulesFor([twice]));
    expect(found.map(({ entry }) => entry?.key)).toEqual([
      'outcome-B-20261106080000-1',
      'outcome-B-20261106080000-2',
    ]);
    expect(short(await changesOf(rulesFor([twice]), { has: after(found) }))).toEqual([
      'left-out B sent_before 1',
      'left-out B sent_before 1',
    ]);
  });

  test.each<[string, string, Partial<ConversionRules['outcomes']>, Partial<ConversionRules>]>([
    ['no_click_id', '2025550188,2026-11-06,9,1,', {}, {}],
    ['no_call', '2025550199,2026-11-06,9,1,', {}, {}],
    ['no_number', 'Anonymous,2026-11-06,9,1,', {}, {}],
    ['too_late', `${number},2026-11-28,9,1,`, { window: 86_400_000 }, {}],
    ['excluded', sale, {}, { exclude: `ani = '${number}'` }],
    ['in_the_future', `${number},2026-11-29,9,1,`, {}, {}],
    ['cancelled', `${number},2026-11-06,9,1,void`, {}, {}],
    ['cancelled', `${number},2026-11-06,0,1,`, {}, {}],
    ['click_too_old', sale, {}, { clickWindow: '10d' }],
    ['time_twice_in_zone', `${number},2026-11-01 01:30,9,1,`, {}, {}],
  ])('is left out: %s', async (why, row, outcomes, changes) => {
    const of = [...calls, call('C', '2026-10-30 10:00:00')];
    const [found] = await changesOf(rulesFor([`${head}\n${row}`], outcomes, changes), { of });
    expect(found).toMatchObject({ kind: 'left-out', conversion: null, why });
  });

  test('of another conversion is left out', async () => {
    const other = `${head},conversion\n${sale},Quote`;
    expect(short(await changesOf(rulesFor([other])))).toEqual(['left-out B other_conversion ']);
  });

  test('of another time is none', async () => {
    const period = periodOf(parseNaive('2026-11-07 00:00:00'), null);
    expect(await changesOf(rulesFor([`${head}\n${sale}`], { period }))).toEqual([]);
  });

  test('counts in the summary with its value', async () => {
    const tally = createTally();
    const file = `${head}\n${sale}\nAnonymous,2026-11-06,9,18,`;
    for (const change of await changesOf(rulesFor([file]))) tally.add(change);
    expect(tally.summary()).toMatchObject({ calls: 2, rows: 1, values: new Map([[null, 250]]) });
    expect([...tally.summary().leftOut]).toEqual([['no_number', 1]]);
  });

  test('of another currency adds up by itself', async () => {
    const tally = createTally();
    const rows = ['USD,1', 'EUR,2', 'USD,3'].map((row) => `${number},2026-11-06,10,${row}`);
    const rules = rulesFor([['phone,time,value,currency,id', ...rows].join('\n')]);
    for (const change of await changesOf(rules)) tally.add(change);
    expect(summaryLines(tally.summary(), clicks, rules)[0]).toBe('worth 20.00 USD and 10.00 EUR');
  });
});

describe('a conversion name', () => {
  test('that gets calls takes no outcomes, and the other way round', async () => {
    const rules = rulesFor([`${head}\n${sale}`]);
    const { outcomes: _, ...ofCalls } = rules;
    const asCalls = await changesOf({ ...ofCalls, unanswered: true, minTalk: '0s' });
    await expect(changesOf(rules, { has: after(asCalls) })).rejects.toThrow(
      'the conversion "Sale" has got calls already: give outcomes a conversion of their own, else one call would count twice',
    );
    const sold = after(await changesOf(rules));
    await expect(changesOf(ofCalls, { has: sold })).rejects.toThrow(RulesError);
  });

  test('a tool without values takes no outcomes', async () => {
    const rules = rulesFor([`${head}\n${sale}`]);
    await expect(changesOf(rules, { tool: sheetFormats.skai })).rejects.toThrow(
      'takes calls without a value: it has no place for outcomes',
    );
  });
});

describe('what was sent', () => {
  const sent = async (tool: Tool = clicks) =>
    after(await changesOf(rulesFor([`${head}\n${sale}`]), { tool }));
  const later = async (line: string, options: Parameters<typeof changesOf>[1] = {}) =>
    changesOf(rulesFor([`${head}\n${line}`]), { has: await sent(options?.tool), ...options });

  test('stays as it is where nothing changed', async () => {
    expect(short(await later(sale))).toEqual(['left-out B sent_before 250']);
  });

  test('is restated with a new value, and keeps its click and time', async () => {
    const of = [...calls, call('D', '2026-11-06 14:00:00')];
    const line = `${number},2026-11-06 15:30:00,300,17,paid`;
    const [change] = await later(line, { of });
    expect(change).toMatchObject({
      kind: 'restate',
      why: 'value_changed',
      entry: {
        action: 'restate',
        sid: 'B',
        value: 300,
        at: Date.parse('2026-11-06T15:00:00-05:00'),
      },
    });
  });

  test('is restated and taken back when its call is not read any more', async () => {
    expect(short(await later(sale.replace('250', '300'), { of: [] }))).toEqual([
      'restate - value_changed 300',
    ]);
    expect(short(await later(sale.replace('won', 'refunded'), { of: [] }))).toEqual([
      'retract - cancelled 250',
    ]);
  });

  test.each(['cancelled', 'canceled', 'refunded', 'void'])('is taken back: %s', async (status) => {
    expect(short(await later(sale.replace('won', status)))).toEqual(['retract B cancelled 250']);
    expect(short(await later(sale.replace('won', status), { tool: byId }))).toEqual([
      'retract B cancelled 250',
    ]);
  });

  test('is taken back with the value 0', async () => {
    expect(short(await later(sale.replace('250', '0')))).toEqual(['retract B cancelled 250']);
  });

  test('is listed where the tool takes no correction', async () => {
    const tally = createTally();
    const tool = sheetFormats.sa360;
    for (const change of await later(sale.replace('won', 'void'), { tool })) tally.add(change);
    for (const change of await later(sale.replace('250', '9'), { tool })) tally.add(change);
    const { changes, uncorrected } = tally.summary();
    expect(changes).toEqual({ add: 0, restate: 0, retract: 0 });
    expect(uncorrected).toEqual([
      { sid: 'B', what: 'no_conversion' },
      { sid: 'B', what: 'value_changed' },
    ]);
  });

  test('is not changed by an older row that comes later', async () => {
    const newer = await later(`${number},2026-11-09,250,17,refunded`);
    const has = after(newer, await sent());
    expect(short(await changesOf(rulesFor([`${head}\n${sale}`]), { has }))).toEqual([
      'left-out B older_row 250',
    ]);
  });

  const two = `${head}\n${sale}\n${number},2026-11-08,80,18,`;
  test.each<[string, string, boolean, string[]]>([
    [
      'stays where files may lack rows',
      `${head}\n${sale}\n${number},2026-11-10,1,19,`,
      false,
      ['left-out B sent_before 250', 'add B 1 1'],
    ],
    [
      'is taken back where they are complete',
      `${head}\n${sale}\n${number},2026-11-10,1,19,`,
      true,
      ['left-out B sent_before 250', 'add B 1 1', 'retract - not_in_files 80'],
    ],
    [
      'stays after the last row of complete files',
      `${head}\n${sale}`,
      true,
      ['left-out B sent_before 250'],
    ],
    ['stays before their first row', `${head}\n${number},2026-11-10,1,19,`, true, ['add B 1 1']],
  ])('and is in no file %s', async (_, file, isComplete, expected) => {
    const has = after(await changesOf(rulesFor([two])));
    expect(short(await changesOf(rulesFor([file], { isComplete }), { has }))).toEqual(expected);
  });

  test('without an id stays with its call when another one comes to light', async () => {
    const file = `phone,time,value\n${number},2026-11-06 15:00,1`;
    const has = after(await changesOf(rulesFor([file])));
    const of = [...calls, call('D', '2026-11-06 14:00:00')];
    expect(short(await changesOf(rulesFor([file]), { has, of }))).toEqual([
      'left-out D sent_before 1',
    ]);
  });

  test.each<[string, Partial<ConversionRules>]>([
    ['now_excluded', { exclude: `ani = '${number}'` }],
    ['consent_withdrawn', { consent: { adUserData: 'denied', adPersonalization: 'denied' } }],
  ])('is listed as %s', async (what, changes) => {
    const tally = createTally();
    const has = await sent();
    for (const change of await changesOf(rulesFor([`${head}\n${sale}`], {}, changes), { has }))
      tally.add(change);
    expect(tally.summary().changes).toEqual({ add: 0, restate: 0, retract: 0 });
    expect(tally.summary().uncorrected).toEqual([{ sid: 'B', what }]);
  });

  test('without an id stays in complete files when its call is not read any more', async () => {
    const file = `phone,time,value\n${number},2026-11-06,1`;
    const has = after(await changesOf(rulesFor([file])));
    expect(await changesOf(rulesFor([file], { isComplete: true }), { has, of: [] })).toEqual([
      expect.objectContaining({ kind: 'left-out', why: 'no_call' }),
    ]);
  });
});

describe('a row that was read and not sent', () => {
  const row = (date: string, rest: string, conversion = '') =>
    `${number},2026-11-${date} 15:00:00,${rest},${conversion}`;
  const sold = row('06', '250,17,won');

  /** Runs with one ledger, each with a file of its own: what each of them changes. */
  const runsOf = async (files: readonly string[], { tool = byId as Tool, of = calls } = {}) => {
    const lines: string[] = [];
    const journal: Journal = {
      async *read() {
        yield* [...lines];
      },
      async append(line) {
        lines.push(line);
      },
      async close() {},
    };
    const runs: string[][] = [];
    for (const line of files) {
      const ledger = await openLedger(journal);
      const found: CallChange[] = [];
      const rules = rulesFor([`${head},conversion\n${line}`]);
      const has = ledger.delivered('x');
      const seen = ledger.seen('x');
      for await (const each of conversions(of, rules, tool, has, seen)) found.push(each);
      const target: PushTarget = {
        most: 9,
        oneKind: false,
        send: async () => ({ isTaken: true, refusals: [], requestId: null }),
      };
      await pushConversions(target, await changesToSend(found), { ledger, destination: 'x' });
      runs.push(short(found));
    }

    return { runs, text: lines.join('\n') };
  };

  test.each<[string, string, string]>([
    ['took it back', row('09', '250,17,refunded'), 'left-out B cancelled '],
    ['is worth nothing', row('09', '0,17,'), 'left-out B cancelled '],
    [
      'gives it to another conversion',
      row('09', '250,17,won', 'Quote'),
      'left-out B other_conversion ',
    ],
  ])('holds against an older one that comes later: it %s', async (_, newer, why) => {
    const again = row('10', '250,17,paid');
    const { runs } = await runsOf([newer, sold, newer, again, sold]);
    expect(runs).toEqual([
      [why],
      ['left-out B older_row '],
      [why],
      ['add B 250 250'],
      ['left-out B older_row 250'],
    ]);
  });

  test('holds as well where the tool had the same value already', async () => {
    const { runs } = await runsOf([sold, row('12', '250,17,paid'), row('08', '200,17,paid')]);
    expect(runs).toEqual([
      ['add B 250 250'],
      ['left-out B sent_before 250'],
      ['left-out B older_row 250'],
    ]);
  });

  test.each([
    ['mistyped, without a call in the window before it', '2027-11-06'],
    ['not over yet', '2026-12-01'],
  ])('of a day that is %s does not hold: the row with the right day is sent', async (_, day) => {
    const { runs } = await runsOf([sold.replace('2026-11-06', day), sold]);
    expect(runs.flat()).toEqual([expect.stringMatching(/^left-out /), 'add B 250 250']);
  });

  test('of the same time does not hold: the row that is read last does', async () => {
    const { runs } = await runsOf([sold.replace('won', 'refunded'), sold]);
    expect(runs).toEqual([['left-out B cancelled '], ['add B 250 250']]);
  });

  test('is noted once, under a hash, with the call that an erasure looks for', async () => {
    const refunded = row('09', '250,17,refunded');
    const { text } = await runsOf([refunded, refunded, sold]);
    expect(text.split('\n').map((line) => JSON.parse(line))).toEqual([
      {
        type: 'seen',
        destination: 'x',
        rows: [
          {
            key: expect.stringMatching(/^outcome-[0-9a-f]{40}$/),
            sid: 'B',
            account: '101',
            soldAt: parseNaive('2026-11-09 15:00:00'),
          },
        ],
      },
    ]);
    expect(withoutCalls(text.split('\n')[0] ?? '', (sid) => sid === 'B')).toContain('"rows":[]');
  });

  test('moves the time in which files that are complete must have it', async () => {
    const has = after(await changesOf(rulesFor([`${head}\n${sale}`])));
    const [key = ''] = has.keys();
    const rules = rulesFor([`${head}\n${number},2026-11-05,1,18,\n${number},2026-11-07,1,19,`], {
      isComplete: true,
    });
    const kinds = async (seen: Seen) => {
      const found: string[] = [];
      for await (const { kind } of conversions(calls, rules, clicks, has, seen)) found.push(kind);
      return found;
    };
    expect(await kinds(new Map())).toEqual(['add', 'add', 'retract']);
    expect(await kinds(new Map([[key, parseNaive('2026-11-12 00:00:00')]]))).toEqual([
      'add',
      'add',
    ]);
  });

  test('gives what was sent to another conversion: it is taken back here', async () => {
    const { runs } = await runsOf([sold, row('09', '250,17,won', 'Quote')]);
    expect(runs).toEqual([['add B 250 250'], ['retract B other_conversion 250']]);
  });
});
