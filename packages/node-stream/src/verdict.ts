// What is proved of a period, as programs get it and receipts keep it, and how it is said in words.

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
  const young = notes.map(
    ({ from }) =>
      `recent calls, after ${from}, are included, and more may still be added: read again later`,
  );
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
