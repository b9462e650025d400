// What was read is one sorted list of stretches. It is the checkpoint of a stream, the state of a
// sync, and what a verdict is made of. Stretches share their borders: what came at a border is
// delivered with the first of the two that is read.

import {
  type Gap,
  gapOf,
  type Note,
  proofOf,
  type Span,
  type Verdict,
  type Why,
} from './verdict.ts';

/** A range of positions, both ends included; null is an open end. */
export type Range = Span<number>;

/** A stretch that was read. */
export interface Stretch extends Range {
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
}

/** A stretch of a copy. What a read knows of a stretch has none of this. */
export interface CopyStretch extends Stretch {
  /** When it was read, in milliseconds. */
  readonly read?: number;
  /** The number of the run that read it, or that counted as many again. */
  readonly run?: number;
  /** How many of its calls were not final. */
  readonly open?: number;
  /** It has to be read again. */
  readonly again?: true;
  /** Calls at its first second, and at its last. */
  readonly ends?: readonly [number, number];
}

/**
 * Stretches in order, which may share their ends and nothing else. What lies between them was not
 * read.
 */
export type Stretches = readonly CopyStretch[];

/** What a reader keeps in a checkpoint, as `Checkpoint.read`. */
export interface ReadState {
  /** What was read. */
  readonly stretches: Stretches;
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
  readonly pagesTo: number | null;
  /** The account of all calls so far. */
  readonly account: string | null;
}

const beginsBefore = (a: number | null, b: number | null): boolean =>
  b !== null && (a === null || a < b);
const endsBefore = (a: number | null, b: number | null): boolean =>
  a !== null && (b === null || a < b);

export const byBegin = (a: Range, b: Range): number => (beginsBefore(a.from, b.from) ? -1 : 1);

/** What two ranges have in common; null when that is nothing, or a border only. */
export function common(a: Range, b: Range): Range | null {
  // A range of one position has something in common with itself alone.
  if (isSame(a, b)) return a;
  const range = {
    from: beginsBefore(a.from, b.from) ? b.from : a.from,
    to: endsBefore(a.to, b.to) ? a.to : b.to,
  };
  return range.from !== null && range.to !== null && range.from >= range.to ? null : range;
}

export const isSame = (a: Range, b: Range): boolean => a.from === b.from && a.to === b.to;

/**
 * Puts a stretch in the place of what was known of its range. Of what is left of others that it
 * cuts, numbers are a guess.
 */
export function add(list: Stretches, stretch: CopyStretch): CopyStretch[] {
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
  whole: Stretch,
  { until, step }: { readonly until: number | null; readonly step: number },
  items: readonly { readonly at: number }[],
  fresh: readonly { readonly at: number }[],
): Stretch[] {
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
export function missing(list: readonly Range[], period: Range): Range[] {
  const gaps: Range[] = [];
  let rest: Range | null = period;
  for (const stretch of list) {
    if (rest === null || common(stretch, rest) === null) continue;
    if (beginsBefore(rest.from, stretch.from)) gaps.push({ from: rest.from, to: stretch.from });
    rest = endsBefore(stretch.to, rest.to) ? { from: stretch.to, to: rest.to } : null;
  }

  return rest === null ? gaps : [...gaps, rest];
}

const isAlike = (a: CopyStretch, b: CopyStretch): boolean =>
  a.to === b.from &&
  a.is === 'proved' &&
  b.is === 'proved' &&
  a.counted !== null &&
  b.counted !== null &&
  a.again === b.again &&
  (a.at === null) === (b.at === null) &&
  (a.at !== null || a.run === b.run);

function joined(a: CopyStretch, b: CopyStretch): CopyStretch {
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
export function bounded(
  list: Stretches,
  most: number,
  keeps: (border: number) => boolean,
): Stretches {
  if (list.length <= most) return list;
  const share = list.reduce((sum, { calls }) => sum + calls, 0) / most;
  const all: CopyStretch[] = [];
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
export async function recount(
  list: Stretches,
  {
    isDue,
    rows,
    seen,
  }: {
    readonly isDue: (stretch: CopyStretch) => boolean;
    readonly rows: number;
    readonly seen: Pick<CopyStretch, 'at' | 'run'>;
  },
  count: (range: Range) => Promise<number | null>,
): Promise<CopyStretch[]> {
  const freshIn = (stretches: Stretches): number =>
    stretches.reduce((sum, { at, calls }) => sum + (at === null ? calls : 0), 0);
  const perGroup = Math.max(pagesPerCount * rows, freshIn(list) / mostCounts);
  const groups: CopyStretch[][] = [];
  const others: CopyStretch[] = [];
  for (const stretch of list) {
    const group = groups.at(-1) ?? [];
    const isCounted = stretch.is === 'proved' && stretch.counted !== null && isDue(stretch);
    if (!isCounted) others.push(stretch);
    else if (group.at(-1)?.to === stretch.from && freshIn(group) < perGroup) group.push(stretch);
    else groups.push([stretch]);
  }

  const judge = async (group: Stretches): Promise<{ found: number | null; list: Stretches }> => {
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
    const behind = group[half] as CopyStretch;
    const more = found - ((left.found ?? Number.NaN) + (right.found ?? Number.NaN) - behind.shared);
    const isMore = more > 0 && Number.isFinite(more);
    if (!isMore || behind.ends === undefined) return { found, list };

    // Together there are more than in both. Calls may have moved while they were counted: then one
    // of the stretches differs when each is counted alone. Or a call that both halves had at their
    // border is gone, and a new one in each has taken its place in their counts.
    const alone: CopyStretch[] = [];
    if (list.every(isProved)) for (const one of group) alone.push(...(await judge([one])).list);
    if (!alone.every(isProved)) return { found, list: alone };
    const changed = list.map((one, i) =>
      i === half && isProved(one) ? differing(one, more) : one,
    );
    return { found, list: changed };
  };

  const counted: CopyStretch[] = [];
  for (const group of groups) counted.push(...(await judge(group)).list);
  return [...counted, ...others].sort(byBegin);
}

const isProved = ({ is }: CopyStretch): boolean => is === 'proved';

/** A stretch of which the server counts so many more calls, or fewer. */
const differing = (one: CopyStretch, more: number): CopyStretch =>
  more > 0
    ? { ...one, is: 'short', why: 'rose', missing: more }
    : { ...one, is: 'unproven', why: 'fell' };

/** How many calls are known of a range, both ends included. */
export function knownIn(list: Stretches, range: Range): number {
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
export function withLost(list: Stretches, lost: number): Stretches {
  const [first, second] = list;
  if (first === undefined || lost === 0) return list;
  const whole = second === undefined ? first : joined(first, second);
  const missing = (first.missing ?? 0) + lost;
  return [{ ...whole, is: 'short', why: 'unreadable', missing, calls: whole.calls - lost }];
}

/**
 * What a list proves of a period, and why not all of it. `first`: what the first answer counted in
 * all of it.
 */
export function verdictOf(
  list: Stretches,
  asked: Range,
  {
    first = null,
    notes = [],
  }: { readonly first?: number | null; readonly notes?: readonly Note<number>[] } = {},
): Verdict<number> {
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
function together(gaps: readonly Gap<number>[]): Gap<number>[] {
  const all: Gap<number>[] = [];
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
