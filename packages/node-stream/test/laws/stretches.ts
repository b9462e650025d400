import type { Call } from '@call-attribution/core';
import { matcher, toFilter } from '@call-attribution/query-dsl';
import { Tally } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { expect } from 'vitest';
import {
  type SyncBatch,
  type SyncState,
  type SyncStretch,
  type SyncSummary,
  syncInto,
} from '../../src/index.ts';
import { copyVerdict } from '../../src/sync/copy-verdict.ts';
import { type FakeRecord, FakeServer } from '../fake-server.ts';

const start = Date.UTC(2026, 0, 1);
const hour = 3600_000;
/** Age from which a time is old enough to be counted. */
const settle = 14 * hour;
const naive = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');
const time = (hours: number): string => naive(start + hours * hour);

/**
 * What happens while a sync runs: before a request, calls are lost, come back, come late, or lists
 * lag behind counts.
 */
const happening = fc.record({
  at: fc.nat(14),
  kind: fc.constantFrom('lose', 'regain', 'late', 'swap', 'lists lag', 'lists are well'),
  which: fc.nat(200),
  many: fc.integer({ min: 1, max: 6 }),
});

const recordOf = (sid: string, date_added: string): FakeRecord => {
  const record = { sid, date_added, ppc_status: 'Processed', talk_minutes: '2.0' };
  return record;
};

const round = fc.record({
  happenings: fc.array(happening, { maxLength: 3 }),
  dies: fc.oneof(fc.constant(99), fc.nat(6)),
  maxPages: fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 5 })),
  from: fc.constantFrom(null, null, 100, 300),
  filter: fc.constantFrom('', '', 'inc_gce:1', 'inc_gce:1', 'talk_minutes:[1 TO *]'),
  order: fc.constantFrom('oldest' as const, 'newest' as const),
  pause: fc.integer({ min: 0, max: 30 }),
});

const history = fc.record({
  calls: fc.array(fc.nat(480), { minLength: 1, maxLength: 90 }),
  version: fc.constantFrom('v2' as const, 'v3' as const),
  now: fc.constantFrom(480, 1200),
  lookback: fc.constantFrom('1h' as const, '1d' as const, '3d' as const),
  rounds: fc.array(round, { minLength: 1, maxLength: 6 }),
});

type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

/**
 * A server that loses calls and gets them back, and remembers which of them its totals last
 * counted.
 */
class Model {
  readonly server: FakeServer;
  /** Sids that the last total over their time counted, in the runs that came to their end. */
  counted: ReadonlySet<string> = new Set<string>();
  #counting = new Set<string>();
  /**
   * Calls that were away while a count went over their time, since the copy was last compared: each
   * can hide one that came, also where it is back before another count.
   */
  readonly missed = new Set<string>();
  /** When each call was. */
  readonly known = new Map<string, string>();
  /**
   * Since which run each call has been on the server without a break, by the clock of that run. Its
   * lists may hide it all the same.
   */
  readonly since = new Map<string, number>();
  /** Calls that the server has lost. */
  readonly #lost: FakeRecord[] = [];
  /** Calls that counts know and lists do not have yet. */
  #hidden: readonly FakeRecord[] = [];
  #next = 0;
  #requests = 0;
  /**
   * Calls that a swap hid from the count of a filter: they are known to be missing once a run with
   * that filter counts again.
   */
  readonly swapped = new Set<string>();
  /** When the run began. */
  clock = 0;
  happenings: History['rounds'][number]['happenings'] = [];

  constructor(hours: readonly number[], version: 'v2' | 'v3') {
    const records = hours.map((at, i) => recordOf(`s${i}`, time(at)));
    this.server = Object.assign(
      new FakeServer(records, {
        before: (request, server) => {
          for (const one of this.happenings) if (one.at === this.#requests) this.#happen(one);
          this.#requests += 1;

          // What comes during a run was not there for all of it.
          this.#look(this.clock + 1);
          if (this.#requests > 1000)
            throw new Error('The server was asked 1000 times: the sync is lost.');
          server.requests.length = 0;
          for (const { sid, date_added } of server.records) this.known.set(sid, date_added);
          if (request.page !== 0) return;
          const matches = matcher(request.filter);
          const isCount = request.rows === 1;
          for (const record of [...server.records, ...this.#lost])
            if (matches({ ...record })) this.#counting.delete(record.sid);
          for (const record of this.#lost) if (matches({ ...record })) this.missed.add(record.sid);
          for (const { sid, ...record } of server.records)
            if (
              matches({ sid, ...record }) &&
              (isCount || !this.#hidden.some((one) => one.sid === sid))
            )
              this.#counting.add(sid);
        },
        after: (page, { rows, page: index, filter }) => {
          if (rows === 1 || this.#hidden.length === 0) return page;
          const matches = matcher(filter);
          const all = this.server.records
            .filter((record) => matches({ ...record }) && !this.#hidden.includes(record))
            .sort((a, b) => a.date_added.localeCompare(b.date_added) || a.sid.localeCompare(b.sid));
          return {
            records: all.slice(index * rows, (index + 1) * rows),
            first: index * rows + 1,
            total: all.length,
          };
        },
      }),
      { version },
    );
  }

  begin(happenings: History['rounds'][number]['happenings'], clock: number): void {
    this.#requests = 0;
    this.#counting = new Set(this.counted);
    this.happenings = happenings;
    this.clock = clock;
    this.#look(clock);
  }

  #look(now: number): void {
    const there = new Set(this.server.records.map(({ sid }) => sid));
    for (const sid of this.since.keys()) if (!there.has(sid)) this.since.delete(sid);
    for (const sid of there) if (!this.since.has(sid)) this.since.set(sid, now);
  }

  /**
   * A run has come to its end: a copy knows nothing of what was counted for one that was killed.
   */
  ended(): void {
    this.counted = new Set(this.#counting);
  }

  /** From now on the server loses nothing, and its lists have what it counts. */
  recover(clock: number): void {
    this.#hidden = [];
    this.server.records.push(...this.#lost.splice(0));
    this.begin([], clock);
  }

  #happen({ kind, which, many }: History['rounds'][number]['happenings'][number]): void {
    const { records } = this.server;
    const lose = () =>
      this.#lost.push(...records.splice(which % Math.max(1, records.length), many));

    const late = () => {
      for (let i = 0; i < many; i += 1) {
        const date_added = time((which * 7 + i) % 480);
        records.push(recordOf(`late${this.#next++}`, date_added));
      }
    };

    if (kind === 'lose') lose();
    else if (kind === 'regain') records.push(...this.#lost.splice(0, many));
    else if (kind === 'late') late();
    else if (kind === 'swap') {
      lose();
      late();
    } else
      this.#hidden =
        kind === 'lists lag' ? records.slice(which % records.length).slice(0, many) : [];
  }
}

/** A copy that takes records and state together, and can die before a commit. */
type Copy = ReturnType<typeof copyOf>;

function copyOf(model: Model) {
  let text = 'null';
  const copy = {
    rows: new Map<string, Call>(),
    dieAfter: Number.POSITIVE_INFINITY,
    load: async (): Promise<SyncState | null> => JSON.parse(text),
    async commit({ calls, state, isLast }: SyncBatch) {
      copy.dieAfter -= 1;
      if (copy.dieAfter < 0) throw new Error('killed');
      text = JSON.stringify(state);
      for (const call of calls) copy.rows.set(call.sid, call);
      if (isLast) model.ended();
      return { added: 0, changed: 0 };
    },
  };
  return copy;
}

const usual: History['rounds'][number] = {
  happenings: [],
  dies: 99,
  maxPages: undefined,
  from: null,
  filter: '',
  order: 'oldest',
  pause: 0,
};
const some = { ...usual, filter: 'talk_minutes:[1 TO *]' } as const;
const late = (which: number, many: number) => [{ at: 0, kind: 'late' as const, which, many }];

/** Histories in which copies of several filters have lost calls. */
const knownHistories: History[] = [
  // A filter counts more than was there when all calls were read.
  {
    calls: [0],
    version: 'v2',
    now: 480,
    lookback: '1h',
    rounds: [
      { ...some, from: 100 },
      usual,
      { ...some, happenings: late(14, 3), maxPages: 1, from: 300 },
    ],
  },
  // So does one that leaves times unread.
  {
    calls: [0],
    version: 'v3',
    now: 480,
    lookback: '1h',
    rounds: [
      { ...usual, filter: 'inc_gce:1', dies: 2, maxPages: 1 },
      { ...usual, happenings: late(0, 1), dies: 0 },
      { ...usual, dies: 2, maxPages: 1, order: 'newest' },
      { ...usual, maxPages: 1, from: 300 },
      { ...usual, from: 300 },
    ],
  },
  // Two calls are swapped inside one count, and come back before their neighbors are counted.
  {
    calls: [0, 85, 86, 0, 88],
    version: 'v3',
    now: 480,
    lookback: '1h',
    rounds: [
      {
        ...usual,
        filter: 'inc_gce:1',
        order: 'newest',
        happenings: late(0, 6),
        maxPages: 3,
        pause: 1,
      },
      {
        ...usual,
        filter: 'inc_gce:1',
        order: 'newest',
        happenings: [
          { at: 8, kind: 'regain', which: 0, many: 2 },
          { at: 0, kind: 'swap', which: 12, many: 2 },
        ],
      },
    ],
  },
  // One call hides another in a count, and its time is read again before the run is killed.
  {
    calls: [101, 0],
    version: 'v2',
    now: 480,
    lookback: '1h',
    rounds: [
      { ...usual, from: 100, dies: 1 },
      {
        ...some,
        happenings: [
          { at: 0, kind: 'lists lag', which: 0, many: 2 },
          { at: 0, kind: 'lose', which: 0, many: 1 },
        ],
        pause: 1,
      },
      { ...usual, dies: 3 },
    ],
  },
];

/**
 * What the law tallies: the copies that call themselves whole, and those of them in which calls
 * were swapped.
 */
export const wholeEvents = {
  whole: 'copies that call themselves whole',
  swapped: 'swaps that no count can find',
} as const;

/**
 * Runs random histories: a copy that calls itself whole has every call that the server had when it
 * was counted. The exception is a swap: as many calls lost as gained inside what one count covers.
 * Those are tallied.
 */
export async function wholeIsWhole(
  numRuns: number,
  tally = new Tally(),
  seed?: number,
): Promise<void> {
  const examples = knownHistories.map((one): [History] => [one]);
  await fc.assert(
    fc.asyncProperty(history, (given) => tally.run(() => liveThrough(given, tally))),
    { numRuns, examples, ...(seed === undefined ? {} : { seed }) },
  );
}

async function liveThrough(
  { calls, version, now, lookback, rounds }: History,
  tally: Tally,
): Promise<void> {
  const model = new Model(calls, version);
  const copy = copyOf(model);
  let clock = start + now * hour;

  // What was counted for a run that was killed may have been stored, so it is not known until a
  // later one has counted all.
  let isKnown = true;
  const settings = { rows: 10, lookback, settle: '3d', clock: { now: () => clock } } as const;
  for (const { happenings, dies, maxPages, from, filter, order, pause } of rounds) {
    model.begin(happenings, clock);
    copy.dieAfter = dies;
    const range = from === null ? '' : `date_added:[${time(from)} TO *]`;
    const own = version === 'v2' && filter === 'inc_gce:1' ? '' : filter;
    const asked = [range, own].filter((part) => part !== '').join(',');
    const more = maxPages === undefined ? {} : { maxPages };
    try {
      const { proof } = await syncInto(model.server, copy, {
        ...settings,
        filter: asked,
        order,
        ...more,
      });
      tally.happened(`ended ${proof}`);
      isKnown ||= maxPages === undefined;
    } catch (error) {
      isKnown = false;
      expect(error).toMatchObject({ message: 'killed' });
      tally.happened('kills');
    }
    await holds(model, copy, tally, isKnown);
    clock += pause * hour + 1000;
  }

  copy.dieAfter = Number.POSITIVE_INFINITY;
  model.recover(clock);

  // What a filter left unread waits for a sync with that filter.
  const all = version === 'v3' ? 'inc_gce:1' : '';
  const own = rounds.map(({ filter }) =>
    version === 'v2' && filter === 'inc_gce:1' ? '' : filter,
  );
  const filters = new Set([...own, all]);
  let last: SyncSummary | null = null;
  for (const filter of filters) last = await syncInto(model.server, copy, { ...settings, filter });
  expect(last).toMatchObject({ proof: 'whole', gaps: [] });
  model.swapped.clear();
  await holds(model, copy, tally);
}

/** Calls that were counted and are not in the copy, of the times that it has whole. */
function missingOf({ counted, known }: Model, { rows }: Copy, { parts }: SyncState): string[] {
  const whole = parts.flatMap(({ stretches }) => stretches.filter(({ is }) => is === 'proved'));
  const isAsked = (date: string) =>
    whole.some(({ from, to }) => (from === null || from <= date) && (to === null || date <= to));
  return [...counted].filter((sid) => !rows.has(sid) && isAsked(known.get(sid) ?? ''));
}

/**
 * Stretches that are called whole have the calls that the server had during all of the run that
 * counted them, whatever its lists and their totals said: but for swaps between neighbors, which
 * are counted together, and for times that are too young to be counted.
 */
function holdsByStretch(
  { since, known, clock }: Model,
  { rows }: Copy,
  { parts }: SyncState,
  tally: Tally,
): void {
  const isSteady = (sid: string): boolean => (since.get(sid) ?? Number.POSITIVE_INFINITY) <= clock;
  for (const { filter, stretches } of parts) {
    const matches = matcher(toFilter(filter));
    for (const group of neighbors(stretches, clock)) {
      let missing = 0;
      let swapped = 0;
      for (const [i, stretch] of group.entries()) {
        const { from, to } = stretch;
        const isIn = (sid: string): boolean => {
          const date = known.get(sid) ?? '';
          // Neighbors share their border.
          const isAfter = i === 0 ? (from ?? '') <= date : (from ?? '') < date;
          return isAfter && date <= (to ?? '~') && matches({ ...recordOf(sid, date) });
        };

        swapped += [...rows.keys()].filter((sid) => !isSteady(sid) && isIn(sid)).length;
        if (isCounted(stretch, clock))
          missing += [...since.keys()].filter(
            (sid) => !rows.has(sid) && isSteady(sid) && isIn(sid),
          ).length;
      }

      if (missing > swapped) tally.add({ lost: missing });
      expect(missing).toBeLessThanOrEqual(swapped);
    }
  }
}

/** A run calls it whole and has counted it, and it is old enough for that. */
function isCounted({ is, at, to }: SyncStretch, clock: number): boolean {
  return is === 'proved' && at === clock && to !== null && to <= naive(clock - settle);
}

/**
 * Neighbors that a run has counted and calls whole, or has read: one that is read again after it
 * was counted together with others may have hidden what they miss, whatever it is called now.
 */
function neighbors(stretches: readonly SyncStretch[], clock: number): SyncStretch[][] {
  const groups: SyncStretch[][] = [];
  for (const stretch of stretches) {
    if (!isCounted(stretch, clock) && stretch.read !== clock) continue;
    const last = groups.at(-1);
    if (last?.at(-1)?.to === stretch.from) last?.push(stretch);
    else groups.push([stretch]);
  }

  return groups;
}

async function holds(model: Model, copy: Copy, tally: Tally, isKnown = true): Promise<void> {
  const state = await copy.load();
  if (state !== null) holdsByStretch(model, copy, state, tally);
  const verdict = copyVerdict(state);
  if (!isKnown || state === null || verdict?.proof !== 'whole') return;
  tally.happened(wholeEvents.whole);
  const missing = missingOf(model, copy, state).filter((sid) => !model.swapped.has(sid));
  const gone = [...copy.rows.keys()].filter(
    (sid) => !model.counted.has(sid) || model.missed.has(sid),
  );
  model.missed.clear();
  if (missing.length === 0) return;

  // As many calls, or more, are in the copy that the server did not count: a swap, which no count
  // can find.
  tally.happened(wholeEvents.swapped);
  if (gone.length < missing.length) tally.add({ lost: missing.length });
  expect(missing.length).toBeLessThanOrEqual(gone.length);
  for (const sid of missing) model.swapped.add(sid);
}
