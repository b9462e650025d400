// What was read is one sorted list of stretches. It is the checkpoint of a stream, the state of a
// sync, and what a verdict is made of. Stretches share their borders: what came at a border is
// delivered with the first of the two that is read.

import type { CopyScope } from '@call-attribution/core';
import { formatCounted } from '@call-attribution/core/errors';

/** Where an item lies: a time as `YYYY-MM-DD HH:MM:SS`, or a number. Both sort by `<`. */
export type Position = string | number;

/** A range with both ends in it; null is an open end. */
export interface Span<P extends Position = string> {
  /** Where it begins. */
  readonly from: P | null;
  /** Where it ends. */
  readonly to: P | null;
}

/**
 * Why a stretch is not proved. `unread`: it has not been read. `no_total`: the server gave no total
 * of it. `fewer`: the server gave fewer calls than it counted, in every try. `unsteady`: its
 * answers did not agree in any try. `doubled`: it gave calls twice. `unreadable`: calls in it could
 * not be parsed and were left out. `rose`, `fell`: a later count of it is more, or less.
 * `uncounted`: the server did not give that count.
 */
export type Why =
  | 'unread'
  | 'no_total'
  | 'fewer'
  | 'unsteady'
  | 'doubled'
  | 'unreadable'
  | 'rose'
  | 'fell'
  | 'uncounted';

/** A stretch that was read. */
export interface Stretch<P extends Position = string> extends Span<P> {
  /**
   * `proved`: it held what the server counted. `unproven`: nothing proves that. `short`: calls of
   * it are missing.
   */
  readonly is: 'proved' | 'unproven' | 'short';
  /**
   * What the server counted in it, both ends included; null when it gave no total, and of a stretch
   * that was cut.
   */
  readonly counted: number | null;
  /** Of those, the ones that the stretch before it has too. */
  readonly shared: number;
  /**
   * Calls that were delivered with it; those that the stretch before it has too are not among them.
   */
  readonly calls: number;
  /** When the server counted as many again, in milliseconds; null before that. */
  readonly at: number | null;
  /** Why it is not proved. */
  readonly why?: Why;
  /** Calls of it that are known to be missing. */
  readonly missing?: number;
  /** The calls that the server gave twice. */
  readonly sids?: readonly string[];
  /** Of a copy: when it was read, in milliseconds. */
  readonly read?: number;
  /** Of a copy: the number of the run that read it, or that counted as many again. */
  readonly run?: number;
  /** Of a copy: how many of its calls were not final. */
  readonly open?: number;
  /** Of a copy: it has to be read again. */
  readonly again?: true;
  /** Of a copy: calls at its first second, and at its last. */
  readonly ends?: readonly [number, number];
}

/**
 * Stretches in order, which may share their ends and nothing else. What lies between them was not
 * read.
 */
export type Stretches<P extends Position = string> = readonly Stretch<P>[];

/**
 * What a read proved. `whole`: each slice held what the server counted when it was read, and at the
 * end the sums agree. `unproven`: none is known to be missing, but not everything that would prove
 * it is there. `short`: calls are known to be missing, or came twice.
 */
export type Proof = 'whole' | 'unproven' | 'short';

/** A stretch that is not proved. */
export interface Gap<P extends Position = string> extends Span<P> {
  /** `unread`: it was not read. `unproven`, `short`: as in `Verdict`. */
  readonly is: 'unread' | 'unproven' | 'short';
  /** The reason. */
  readonly why: Why;
  /** Calls of it that were delivered. */
  readonly calls: number;
  /** Calls of it that are known to be missing; null when nobody knows. */
  readonly missing: number | null;
  /** The calls that the server gave twice. */
  readonly sids: readonly string[];
}

/** Something to know that takes nothing from the proof. */
export interface Note<P extends Position = string> {
  /**
   * `young`: what lies after `from` was delivered and not counted at the end, because calls still
   * appear there.
   */
  readonly code: 'young';
  /** Where it begins. */
  readonly from: P | null;
}

/** What was asked for, and what is proved of it. */
export interface Verdict<P extends Position = string> {
  /** What was proved. */
  readonly proof: Proof;
  /** The period that was asked for. */
  readonly asked: Span<P>;
  /**
   * Calls of the stretches that are proved. With those of `gaps`, they are all that were delivered.
   */
  readonly proved: number;
  /** What is not proved, in order. */
  readonly gaps: readonly Gap<P>[];
  /** What else there is to know. */
  readonly notes: readonly Note<P>[];
  /** Why it ended before its end, where it has failed. */
  readonly failure?: string;
  /** Of a copy, and of a server that serves one: where it was filled with a filter. */
  readonly only: readonly CopyScope[];
  /** Of a copy: the parts of the period that no sync was asked for. */
  readonly unasked: readonly Span<P>[];
}

/** What a reader keeps in a checkpoint, as `Checkpoint.read`. */
export interface ReadState<P extends Position = string> {
  /** What was read. */
  readonly stretches: Stretches<P>;
  /** Ids of the items at the end of what was read, which come again with what follows. */
  readonly border: readonly string[];
  /** What the first answer counted in the whole query. */
  readonly first: number | null;
  /**
   * Of a range that is read page by page: how many were delivered, of how many rows, and what asks
   * for the next one; with how many calls, and how many could not be read.
   */
  readonly pages: {
    readonly done: number;
    readonly rows: number;
    readonly after: string | number | null;
    readonly calls: number;
    readonly left: number;
  } | null;
  /** Where that range ends, unless it is where the read does. */
  readonly pagesTo?: P | null;
  /** The account of all calls so far. */
  readonly account: string | null;
}

const beginsBefore = <P extends Position>(a: P | null, b: P | null): boolean =>
  b !== null && (a === null || a < b);
const endsBefore = <P extends Position>(a: P | null, b: P | null): boolean =>
  a !== null && (b === null || a < b);

export const byBegin = <P extends Position>(a: Span<P>, b: Span<P>): number =>
  beginsBefore(a.from, b.from) ? -1 : 1;

/** What two ranges have in common; null when that is nothing, or a border only. */
export function common<P extends Position>(a: Span<P>, b: Span<P>): Span<P> | null {
  // A range of one position has something in common with itself alone.
  if (isSame(a, b)) return a;
  const range = {
    from: beginsBefore(a.from, b.from) ? b.from : a.from,
    to: endsBefore(a.to, b.to) ? a.to : b.to,
  };
  return range.from !== null && range.to !== null && range.from >= range.to ? null : range;
}

export const isSame = <P extends Position>(a: Span<P>, b: Span<P>): boolean =>
  a.from === b.from && a.to === b.to;

/**
 * Puts a stretch in the place of what was known of its range. Of what is left of others that it
 * cuts, numbers are a guess.
 */
export function add<P extends Position>(list: Stretches<P>, stretch: Stretch<P>): Stretch<P>[] {
  const parts = list.flatMap((one) => {
    if (common(one, stretch) === null) return [one];
    const calls = Math.max(0, one.calls - stretch.calls);
    const rest = { ...one, counted: null, shared: 0, calls };
    const hasRight = endsBefore(stretch.to, one.to);
    const onLeft = hasRight ? 0 : calls;
    return [
      ...(beginsBefore(one.from, stretch.from)
        ? [{ ...rest, to: stretch.from, calls: onLeft }]
        : []),
      ...(hasRight ? [{ ...rest, from: stretch.to }] : []),
    ];
  });
  return [...parts, stretch].sort(byBegin);
}

/**
 * A proved stretch in two, where the time lies in it up to which calls are counted at the end, and
 * no item lies at that time.
 *
 * @param items what the stretch has.
 * @param fresh what was delivered with it.
 */
export function splitAt(
  whole: Stretch<number>,
  { until, step }: { readonly until: number | null; readonly step: number },
  items: readonly { readonly at: number }[],
  fresh: readonly { readonly at: number }[],
): Stretch<number>[] {
  const isInside =
    until !== null &&
    (whole.from === null || whole.from < until) &&
    (whole.to === null || until < whole.to) &&
    whole.is === 'proved';
  if (!isInside || items.some(({ at }) => !(Math.abs(at - until) >= step))) return [whole];
  const counted = items.filter(({ at }) => at < until).length;
  const calls = fresh.filter(({ at }) => at < until).length;
  return [
    { ...whole, to: until, counted, calls },
    {
      ...whole,
      from: until,
      counted: items.length - counted,
      calls: whole.calls - calls,
      shared: 0,
    },
  ];
}

/** The parts of a period that none of these ranges covers, in order. */
export function missing<P extends Position>(list: readonly Span<P>[], period: Span<P>): Span<P>[] {
  const gaps: Span<P>[] = [];
  let rest: Span<P> | null = period;
  for (const stretch of list) {
    if (rest === null || common(stretch, rest) === null) continue;
    if (beginsBefore(rest.from, stretch.from)) gaps.push({ from: rest.from, to: stretch.from });
    rest = endsBefore(stretch.to, rest.to) ? { from: stretch.to, to: rest.to } : null;
  }

  return rest === null ? gaps : [...gaps, rest];
}

const isAlike = <P extends Position>(a: Stretch<P>, b: Stretch<P>): boolean =>
  a.to === b.from &&
  a.is === 'proved' &&
  b.is === 'proved' &&
  a.counted !== null &&
  b.counted !== null &&
  a.again === b.again &&
  (a.at === null) === (b.at === null) &&
  (a.at !== null || a.run === b.run);

function joined<P extends Position>(a: Stretch<P>, b: Stretch<P>): Stretch<P> {
  return {
    from: a.from,
    to: b.to,
    is: 'proved',
    counted: (a.counted ?? 0) + (b.counted ?? 0) - b.shared,
    shared: a.shared,
    calls: a.calls + b.calls,
    at: a.at === null || b.at === null ? null : Math.min(a.at, b.at),
    ...(a.read === undefined || b.read === undefined ? {} : { read: Math.min(a.read, b.read) }),
    ...(a.run === undefined || b.run === undefined ? {} : { run: Math.min(a.run, b.run) }),
    ...(a.open === undefined || b.open === undefined ? {} : { open: a.open + b.open }),
    ...(a.again ? { again: a.again } : {}),
    ...(a.ends && b.ends ? { ends: [a.ends[0], b.ends[1]] } : {}),
  };
}

/**
 * The same in some `most` stretches, as far as neighbors are alike. None are joined across a border
 * that is kept.
 */
export function bounded<P extends Position>(
  list: Stretches<P>,
  most: number,
  keeps: (border: P) => boolean,
): Stretches<P> {
  if (list.length <= most) return list;
  const share = list.reduce((sum, { calls }) => sum + calls, 0) / most;
  const all: Stretch<P>[] = [];
  for (const one of list) {
    const last = all.at(-1);
    const isJoined =
      last !== undefined && isAlike(last, one) && last.calls + one.calls <= 2 * share;
    if (isJoined && one.from !== null && !keeps(one.from)) all.splice(-1, 1, joined(last, one));
    else all.push(one);
  }

  return all;
}

/** Pages of fresh calls that are counted with one request, and such requests of one run. */
const pagesPerCount = 50;
const mostCounts = 16;

/**
 * Counts what is proved once more: neighbors together, and what differs in halves, until it is
 * known which stretches differ. They come back as `short` when calls are missing, else as
 * `unproven`.
 *
 * @param isDue which of those that are proved are counted.
 * @param seen what is noted of those that have as many as before.
 * @param count asks the server how many calls a range has, both ends included; null when it does not say.
 */
export async function recount<P extends Position>(
  list: Stretches<P>,
  {
    isDue,
    rows,
    seen,
  }: {
    readonly isDue: (stretch: Stretch<P>) => boolean;
    readonly rows: number;
    readonly seen: Pick<Stretch<P>, 'at' | 'run'>;
  },
  count: (range: Span<P>) => Promise<number | null>,
): Promise<Stretch<P>[]> {
  const freshIn = (stretches: Stretches<P>): number =>
    stretches.reduce((sum, { at, calls }) => sum + (at === null ? calls : 0), 0);
  const perGroup = Math.max(pagesPerCount * rows, freshIn(list) / mostCounts);
  const groups: Stretch<P>[][] = [];
  const others: Stretch<P>[] = [];
  for (const stretch of list) {
    const group = groups.at(-1) ?? [];
    const isCounted = stretch.is === 'proved' && stretch.counted !== null && isDue(stretch);
    if (!isCounted) others.push(stretch);
    else if (group.at(-1)?.to === stretch.from && freshIn(group) < perGroup) group.push(stretch);
    else groups.push([stretch]);
  }

  const judge = async (
    group: Stretches<P>,
  ): Promise<{ found: number | null; list: Stretches<P> }> => {
    const whole = group.reduce(joined);
    const range = { from: whole.from, to: whole.to };
    const half = group.length >> 1;
    let found = await count(range);

    // One stretch that differs is counted twice: the first time, the server may have been behind.
    if (half === 0 && found !== whole.counted) found = await count(range);
    if (found === whole.counted) return { found, list: group.map((one) => ({ ...one, ...seen })) };
    if (found === null)
      return { found, list: group.map((one) => ({ ...one, is: 'unproven', why: 'uncounted' })) };
    if (half === 0) return { found, list: [differing(whole, found - (whole.counted ?? 0))] };
    const left = await judge(group.slice(0, half));
    const right = await judge(group.slice(half));
    const list = [...left.list, ...right.list];
    const sum =
      (left.found ?? Number.NaN) + (right.found ?? Number.NaN) - (group[half]?.shared ?? 0);
    if (!Number.isFinite(found - sum) || found <= sum || group[half]?.ends === undefined)
      return { found, list };

    // Together there are more than in both: calls moved while they were counted, or one that both
    // had is gone and hid one in each.
    const isProved = ({ is }: Stretch<P>): boolean => is === 'proved';
    const alone: Stretch<P>[] = [];
    if (list.every(isProved)) for (const one of group) alone.push(...(await judge([one])).list);
    if (!alone.every(isProved)) return { found, list: alone };
    const more = found - sum;
    return {
      found,
      list: list.map((one, i) => (i === half && isProved(one) ? differing(one, more) : one)),
    };
  };

  const counted: Stretch<P>[] = [];
  for (const group of groups) counted.push(...(await judge(group)).list);
  return [...counted, ...others].sort(byBegin);
}

/** A stretch of which the server counts so many more calls, or fewer. */
const differing = <P extends Position>(one: Stretch<P>, more: number): Stretch<P> =>
  more > 0
    ? { ...one, is: 'short', why: 'rose', missing: more }
    : { ...one, is: 'unproven', why: 'fell' };

/** How many calls are known of a range, both ends included. */
export function knownIn<P extends Position>(list: Stretches<P>, range: Span<P>): number {
  const inside = list.filter((one) => common(one, range) !== null);

  // A call at an end of the range may be known from its neighbor alone.
  const [before] = list.filter(({ to }) => to !== null && to === range.from);
  const [after] = list.filter(({ from }) => from !== null && from === range.to);
  const more = (theirs = 0, ours = 0): number => Math.max(0, theirs - ours);
  const atEnds =
    more(before?.ends?.[1], inside[0]?.ends?.[0]) +
    more(after?.ends?.[0], inside.at(-1)?.ends?.[1]);
  return inside.reduce((sum, { counted, calls, shared, why, missing = 0 }, i) => {
    const twice = i === 0 ? 0 : shared;
    const own = counted === null ? calls : Math.max(calls, counted - twice);
    return sum + own + (why === 'rose' ? missing : 0);
  }, atEnds);
}

/**
 * The stretches of a slice, as one where so many of its calls could not be read, or were not taken.
 */
export function withLost<P extends Position>(list: Stretches<P>, lost: number): Stretches<P> {
  const [first, second] = list;
  if (first === undefined || lost === 0) return list;
  const whole = second === undefined ? first : joined(first, second);
  const missing = (first.missing ?? 0) + lost;
  return [{ ...whole, is: 'short', why: 'unreadable', missing, calls: whole.calls - lost }];
}

/** A gap of which nothing was delivered. */
export const gapOf = <P extends Position>(
  { from, to }: Span<P>,
  why: 'unread' | 'fell',
  missing: number | null,
): Gap<P> => ({
  from,
  to,
  is: why === 'unread' ? why : 'unproven',
  why,
  calls: 0,
  missing,
  sids: [],
});

/**
 * What a list proves of a period, and why not all of it. `first`: what the first answer counted in
 * all of it.
 */
export function verdictOf<P extends Position>(
  list: Stretches<P>,
  asked: Span<P>,
  {
    first = null,
    notes = [],
  }: { readonly first?: number | null; readonly notes?: readonly Note<P>[] } = {},
): Verdict<P> {
  const inside = list.filter((stretch) => common(stretch, asked) !== null);
  const gaps = missing(list, asked).map((range) => gapOf(range, 'unread', null));
  let proved = 0;
  for (const { from, to, is, why = 'uncounted', calls, missing = null, sids = [] } of inside) {
    if (is === 'proved') proved += calls;
    else gaps.push({ from, to, is, why, calls, missing, sids });
  }

  gaps.sort(byBegin);

  // Calls that the first answer counted and none later. Where something is unread, they may be
  // there.
  const known = knownIn(list, asked);
  if (first !== null && first > known && !gaps.some(({ is }) => is === 'unread'))
    gaps.push(gapOf(asked, 'fell', first - known));
  return {
    proof: proofOf(gaps),
    asked,
    proved,
    gaps: together(gaps),
    notes,
    only: [],
    unasked: [],
  };
}

/** Neighbors that are not proved for the same reason as one. */
function together<P extends Position>(gaps: readonly Gap<P>[]): Gap<P>[] {
  const all: Gap<P>[] = [];
  for (const gap of gaps) {
    const last = all.at(-1);
    if (last?.to == null || last.to !== gap.from || last.why !== gap.why) all.push(gap);
    else
      all[all.length - 1] = {
        ...last,
        to: gap.to,
        calls: last.calls + gap.calls,
        sids: [...last.sids, ...gap.sids],
        missing: last.missing === null || gap.missing === null ? null : last.missing + gap.missing,
      };
  }

  return all;
}

/** What is proved where these are the gaps. */
export function proofOf(gaps: readonly Gap<Position>[]): Proof {
  if (gaps.some(({ is }) => is === 'short')) return 'short';
  return gaps.length > 0 ? 'unproven' : 'whole';
}

/** Calls that were delivered, whether they are proved or not. */
export const deliveredOf = ({ proved, gaps }: Pick<Verdict<Position>, 'proved' | 'gaps'>): number =>
  gaps.reduce((sum, { calls }) => sum + calls, proved);

/** Calls that are known to be missing. */
export const missingOf = ({ gaps }: Pick<Verdict<Position>, 'gaps'>): number =>
  gaps.reduce((sum, { missing }) => sum + (missing ?? 0), 0);

const leads = { whole: 'complete', unproven: 'UNPROVEN', short: 'INCOMPLETE' } as const;

/** A verdict in words. */
export interface Described {
  /** All of it in one sentence, which says no more than was proved. */
  readonly text: string;
  /** What is not proved; null when everything is. */
  readonly lacks: string | null;
  /** Which calls a copy has, where it was filled with a filter; null when it has all calls. */
  readonly scope: string | null;
}

/**
 * Says in words what was proved, of a read, a sync, a file or a copy.
 *
 * @example
 * console.log(describe(calls.verdict()).text); // complete: 5,000 calls, as many as the server counts
 */
export function describe(verdict: Partial<Omit<Verdict<Position>, 'asked'>>): Described {
  const { proved = 0, gaps = [], notes = [], failure, only = [] } = verdict;
  const reasons = [...new Set(gaps.map(({ why }) => why))].map((why) =>
    describeReason(
      why,
      gaps.filter((gap) => gap.why === why),
    ),
  );
  const lacks = failure === undefined ? reasons : [`it failed: ${failure}`, ...reasons];
  const scope = describeScope(only);

  const { proof = proofOf(gaps) } = verdict;
  const calls = formatCounted(deliveredOf({ proved, gaps }), 'call');
  const lead = `${leads[proof]}: ${proof === 'whole' ? `${calls}, as many as the server counts` : calls}`;
  const young = notes.map(({ from }) => `counted up to ${from}, later calls may follow`);
  const has = scope === null ? [] : [`the server has ${scope}`];
  return {
    text: [lead, ...lacks, ...young, ...has].join('; '),
    lacks: lacks.length === 0 ? null : lacks.join('; '),
    scope,
  };
}

/** Which calls a copy has, by place. */
function describeScope(only: readonly CopyScope[]): string | null {
  const places = new Map<string, string[]>();
  for (const { filter, from, to } of only) {
    const place = from === null && to === null ? '' : `${placeOf({ from, to })} `;
    places.set(place, [...(places.get(place) ?? []), filter]);
  }

  const said = [...places].map(([place, filters]) => {
    return `${place}only calls with ${[...new Set(filters)].join(', or with ')}`;
  });
  return said.length === 0 ? null : said.join('; ');
}

function describeReason(why: Why, gaps: readonly Gap<Position>[]): string {
  const lost = gaps.reduce((sum, gap) => sum + (gap.missing ?? 0), 0);
  const missing = missingIn(gaps, lost);
  const where = `${placeOf(gaps[0])}${gaps.length > 1 ? ` and in ${formatCounted(gaps.length - 1, 'more stretch', 'more stretches')}` : ''}`;
  const sids = gaps.flatMap((gap) => gap.sids);
  const some = `${sids.slice(0, 3).join(', ')}${sids.length > 3 ? ', ...' : ''}`;
  const sentences: Readonly<Record<Why, string>> = {
    unread: `the calls ${where} were not read`,
    no_total: `the server gives no total ${where}, so nothing proves that these are all`,
    fewer: `the server gave fewer calls than it counts ${where}: ${missing}`,
    unsteady: `the answers of the server ${where} did not agree with each other`,
    doubled: `the server gave ${formatCounted(sids.length, 'call')} twice ${where}: ${some}`,
    unreadable: `${formatCounted(lost, 'call')} ${where} could not be read and ${lost === 1 ? 'was' : 'were'} left out`,
    rose: `at the end the server counts more calls ${where} than it gave before: ${missing}`,
    fell: `the server counted more calls ${where} at first than later, so calls were removed or are missing`,
    uncounted: `the calls ${where} were read, but not counted at the end`,
  };
  return sentences[why];
}

/** How many calls are missing; where the server said nothing that shows it, nobody knows. */
function missingIn(gaps: readonly Gap<Position>[], lost: number): string {
  const isKnown = gaps.every((gap) => gap.missing !== null);
  if (isKnown) return `${formatCounted(lost, 'call is', 'calls are')} missing`;
  return lost === 0
    ? 'some calls are missing'
    : `${formatCounted(lost, 'call')} or more are missing`;
}

/** Where a period is, in words. */
function placeOf(gap: Span<Position> | undefined): string {
  const { from = null, to = null } = gap ?? {};
  if (from !== null && to !== null) return `between ${from} and ${to}`;
  if (to !== null) return `until ${to}`;
  return from === null ? 'of all times' : `from ${from} on`;
}
