// Whatever order files of sales are read in, run after run, the tool has what one run over all of
// them gives: the newest row of each id holds, also where nothing of it was sent.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Acceptance,
  type ConversionRules,
  changesToSend,
  conversions,
  createTally,
  deliverSheets,
  type Journal,
  type Ledger,
  type LedgerEntry,
  openLedger,
  sheetFormats,
  type Tool,
} from '@call-attribution/conversions';
import {
  dataManagerAccepts,
  type PushTarget,
  pushConversions,
} from '@call-attribution/conversions/push';
import type { Call } from '@call-attribution/core';
import { day, formatNaive, hour, parseNaive, periodOf } from '@call-attribution/core/time';
import { readOutcomes, usualWindow } from '@call-attribution/questions';
import { openStore } from '@call-attribution/store';
import { testStores } from '@call-attribution/test-tools';
import { callWith } from '@call-attribution/test-tools/call-with';
import { rounds } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';

const isDrill = process.env.CALLS_DRILLS !== undefined;
const folder = mkdtempSync(join(tmpdir(), 'sale-histories-'));
afterAll(() => rmSync(folder, { recursive: true }));
const begin = parseNaive('2026-11-01 00:00:00');

/** What a file says of a sale; all rows of one sale have times of their own. */
interface Row {
  readonly sale: number;
  /** Hours after the beginning of November. */
  readonly at: number;
  readonly value: number;
  readonly status: string;
  readonly conversion: string;
  /** The files that have it. */
  readonly files: readonly number[];
}

const fileCount = 5;

/** Sales 0 and 1 have ids, each row of 2 is a sale of its own, and the caller of 3 has no click. */
const sales = [0, 0, 0, 1, 1, 2, 3];
const withoutId = 2;
const withoutClick = 3;
const counting = ['', 'won', 'paid'];
const row = fc.record({
  sale: fc.constantFrom(...sales),
  at: fc.integer({ min: 4 * 24, max: 24 * 24 }),
  value: fc.constantFrom(0, 10, 10, 20, 20, 20),
  status: fc.constantFrom(...counting, 'refunded'),
  conversion: fc.constantFrom('', '', '', 'Sale', 'Quote'),
  files: fc.subarray([...Array(fileCount).keys()], { minLength: 1, maxLength: 2 }),
});

const history = fc.record({
  rows: fc.uniqueArray(row, { minLength: 2, maxLength: 12, selector: ({ at }) => at }),
  /** For each sale, the hours of the calls of its caller. */
  calls: fc.tuple(...Array.from({ length: 4 }, () => fc.array(fc.nat(14 * 24), { maxLength: 3 }))),
  /** Files that are read together; then all are read, one after the other. */
  together: fc.subarray([...Array(fileCount).keys()], { maxLength: 2 }),
  order: fc.shuffledSubarray([...Array(fileCount).keys()], { minLength: fileCount }),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

const numberOf = (caller: number): string => `202555012${caller}`;

function callsOf({ calls }: History): Call[] {
  return calls
    .flatMap((hours, caller) =>
      [...new Set(hours)].map((at) => {
        const sid = `${caller}${String(at).padStart(4, '0')}`;
        const click = `Cj0KCQiA_click-${sid}`;
        const date = formatNaive(begin + at * hour);
        return callWith({
          sid,
          ani: numberOf(caller),
          date_added: date,
          displayed_timestamp: date,
          talk_end: null,
          first_touch: null,
          last_touch: null,
          conversion_page: null,
          ppc_gclid: caller === withoutClick ? null : click,
          landing_page: caller === withoutClick ? null : `https://a.example/?gclid=${click}`,
        });
      }),
    )
    .sort((a, b) => String(a.date_added).localeCompare(String(b.date_added)));
}

/** The files. One in which a sale would have two values is refused: it is two files then. */
function filesOf({ rows }: History): Map<number, readonly (readonly Row[])[]> {
  const files = new Map<number, Row[][]>();
  for (const file of Array(fileCount).keys()) {
    const parts: Row[][] = [];
    for (const each of rows.filter((one) => one.files.includes(file))) {
      const fits = (part: readonly Row[]) =>
        !part.some(
          (other) =>
            other.sale === each.sale &&
            other.value !== each.value &&
            [other, each].every(({ value, status }) => value > 0 && counting.includes(status)),
        );
      const part = parts.find(fits);
      if (part === undefined) parts.push([each]);
      else part.push(each);
    }

    files.set(file, parts);
  }

  return files;
}

const head = 'phone,time,value,status,conversion,id';
const lineOf = ({ sale, at, value, status, conversion }: Row): string => {
  const time = formatNaive(begin + at * hour);
  const id = sale === withoutId ? '' : `S${sale}`;
  return [numberOf(sale), time, value, status, conversion, id].join(',');
};

function rulesFor(files: readonly (readonly Row[])[]): ConversionRules {
  const { all } = readOutcomes(
    files.map((rows, i) => ({
      name: `${i}.csv`,
      rows: [head, ...rows.map(lineOf)].map((line, at) => ({
        line: at + 1,
        cells: line.split(','),
      })),
    })),
    { timeZone: 'UTC', dates: null },
  );
  return {
    timeZone: 'UTC',
    conversionName: 'Sale',
    now: begin + 28 * day,
    outcomes: { all, window: usualWindow, period: periodOf(null, null), isComplete: false },
  };
}

/** A bid tool, which has conversions under what it finds them by. */
interface FakeTool {
  /** The values of the sales that count there. */
  values(): [key: string, value: number | null][];
  take(entries: readonly LedgerEntry[]): void;
}

function fakeTool(findsBy: Acceptance['findsBy']): FakeTool {
  const has = new Map<string, { readonly key: string; readonly value: number | null }>();
  const gone = new Set<string>();
  return {
    values: () =>
      [...has.values()]
        .filter(({ value }) => value !== 0)
        .map(({ key, value }): [string, number | null] => [key, value])
        .sort(),
    take(entries) {
      for (const { action, key, click, at, value } of entries) {
        const place = findsBy === 'id' ? key : `${click?.id} ${at}`;
        if (action === 'add' && findsBy !== 'id' && (has.has(place) || gone.has(place)))
          throw new Error(`a second conversion of the place ${place}`);
        if (action !== 'add' && (findsBy === null || !has.has(place)))
          throw new Error(`a correction of what the tool does not have: ${place}`);
        if (action === 'retract' && findsBy !== 'id') {
          has.delete(place);
          gone.add(place);
        } else has.set(place, { key, value: action === 'retract' ? 0 : value });
      }
    },
  };
}

interface Form {
  readonly tool: Tool;
  send(
    ledger: Ledger,
    changes: Awaited<ReturnType<typeof changesToSend>>,
    rules: ConversionRules,
    to: FakeTool,
  ): Promise<void>;
}

const pushed: Form['send'] = async (ledger, changes, _, to) => {
  const target: PushTarget = {
    most: 3,
    oneKind: false,
    async send(entries) {
      to.take(entries);
      return { isTaken: true, refusals: [], requestId: null };
    },
  };
  await pushConversions(target, changes, { ledger, destination: 'tool' });
};

let sheets = 0;
const written =
  (format: (typeof sheetFormats)[keyof typeof sheetFormats]): Form['send'] =>
  async (ledger, changes, rules, to) => {
    sheets += 1;
    const path = join(folder, `sheet-${sheets}.csv`);
    const delivery = await deliverSheets(ledger, 'tool', changes, format, rules, path);
    to.take(delivery?.entries ?? []);
  };

const forms: Readonly<Record<string, Form>> = {
  'a push to Google, which finds conversions by their id': {
    tool: { accepts: dataManagerAccepts({ phone: false }) },
    send: pushed,
  },
  'a push to a tool that finds them by their click': {
    tool: sheetFormats['google-ads-clicks'],
    send: pushed,
  },
  'a sheet with adjustments': {
    tool: sheetFormats['google-ads-clicks'],
    send: written(sheetFormats['google-ads-clicks']),
  },
  'a sheet that takes no corrections': {
    tool: sheetFormats.sa360,
    send: written(sheetFormats.sa360),
  },
};

type Open = () => Promise<Ledger>;

/** Reads files one after the other, and the same at once into another tool. */
async function holds(found: History, form: Form, open: Open, openOther: Open): Promise<void> {
  const calls = callsOf(found);
  const files = filesOf(found);
  const { findsBy } = form.tool.accepts;
  const listed = new Set<string>();

  const run = async (
    read: readonly (readonly Row[])[],
    into: FakeTool,
    openTo: Open,
  ): Promise<void> => {
    const ledger = await openTo();
    try {
      const rules = rulesFor(read);
      const has = ledger.delivered('tool');
      const changes: Parameters<typeof changesToSend>[0] = conversions(
        calls,
        rules,
        form.tool,
        has,
        ledger.seen('tool'),
      );
      const toSend = await changesToSend(changes, (change) => {
        const tally = createTally();
        tally.add(change);
        if (tally.summary().uncorrected.length > 0) listed.add(change.entry?.key ?? '');
      });
      await form.send(ledger, toSend, rules, into);
    } finally {
      await ledger.close();
    }
  };

  const partsOf = (wanted: readonly number[]) => wanted.flatMap((file) => files.get(file) ?? []);
  const apart = fakeTool(findsBy);
  if (found.together.length > 0) await run(partsOf(found.together), apart, open);
  for (const file of found.order)
    for (const part of files.get(file) ?? []) await run([part], apart, open);

  // What a tool cannot correct is listed instead.
  const isAlike = ([key]: readonly [string, unknown]) => !listed.has(key);
  const together = fakeTool(findsBy);
  await run(partsOf(found.order), together, openOther);
  expect(apart.values().filter(isAlike)).toEqual(together.values().filter(isAlike));
  if (findsBy === 'id') expect(listed).toEqual(new Set());
}

const inMemory = (): Open => {
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
  return () => openLedger(journal);
};

let ledgers = 0;
const inFile = (): Open => {
  ledgers += 1;
  const path = join(folder, `${ledgers}.ledger`);
  return () => openLedger(path);
};
const inStore = (newUrl: () => Promise<string>) => (): Open => {
  const url = newUrl();
  return async () => {
    const store = await openStore(await url);
    const ledger = await openLedger(store.journal('uploads'));
    return { ...ledger, close: () => store.close() };
  };
};

const kinds = [
  { kind: 'memory', numRuns: isDrill ? rounds(200, 5_000) : 20, make: inMemory },
  { kind: 'a file', numRuns: isDrill ? rounds(5, 100) : 2, make: inFile },
  ...testStores()
    .filter(({ kind }) => isDrill || kind === 'sqlite')
    .map(({ kind, newUrl }) => ({
      kind: kind === 'sqlite' ? 'SQLite' : 'PostgreSQL',
      numRuns: isDrill ? rounds(5, 100) : 2,
      make: inStore(newUrl),
    })),
];

test.each(
  Object.entries(forms).flatMap(([name, form]) =>
    kinds.map(({ kind, numRuns, make }) => ({ name, form, kind, numRuns, make })),
  ),
)(
  'files of sales in any order of runs leave what their union leaves: $name, with a ledger in $kind',
  async ({ form, numRuns, make }) => {
    await fc.assert(
      fc.asyncProperty(history, (found) => holds(found, form, make(), make())),
      { numRuns },
    );
  },
);

/** Ledgers that forget something or remember it wrong. The last one takes hundreds of histories. */
const mistakes: Readonly<Record<string, (ledger: Ledger) => Ledger>> = {
  'what was not sent is forgotten': (ledger) => ({ ...ledger, seen: () => new Map() }),
  'the time of what was sent is forgotten': (ledger) => ({
    ...ledger,
    delivered: (to) =>
      new Map(
        [...ledger.delivered(to)].map(([key, { soldAt: _, ...entry }]) => [key, entry] as const),
      ),
  }),
  'a row is taken for older than it is': (ledger) => ({
    ...ledger,
    seen: (to) => new Map([...ledger.seen(to)].map(([key, at]) => [key, at + 5 * day])),
  }),
  'only what was never sent is remembered': (ledger) => ({
    ...ledger,
    note: (to, rows) =>
      ledger.note(
        to,
        rows.filter(({ key }) => !ledger.delivered(to).has(key)),
      ),
  }),
};

test.each(Object.entries(mistakes).slice(0, isDrill ? undefined : -1))(
  'the law fails where %s',
  async (_, wrong) => {
    const [form] = Object.values(forms) as [Form];
    const { failed } = await fc.check(
      fc.asyncProperty(history, async (found) => {
        const right = inMemory();
        await holds(found, form, async () => wrong(await right()), inMemory());
      }),
      { numRuns: 500, seed: 1, endOnFailure: true },
    );
    expect(failed).toBe(true);
  },
);
