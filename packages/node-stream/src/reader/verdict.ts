import type { Ledger } from './ledger.ts';

/**
 * What a read proved. `whole`: every record of the query was delivered, or passed to `onError`. `unproven`: none is known to
 * be missing, but not everything that would prove it could be checked. `short`: records are known to be missing.
 */
export type Proof = 'whole' | 'unproven' | 'short';

/** Why a read is not `whole`. */
export interface VerdictReason {
  /**
   * `left_early`: the read was left or aborted before its end. `no_total`: the server gave no total for a part of it.
   * `skipped`: records that could not be parsed were left out. `count_rose`, `count_fell`: the count at the end is more,
   * or less, than what was read of the same range. `recount_failed`: the server did not give that count. `total_fell`: the
   * server counted more records before than it then gave. `out_of_reach`: one position holds more records than the server gives
   * of a list.
   */
  readonly code:
    | 'left_early'
    | 'no_total'
    | 'skipped'
    | 'count_rose'
    | 'count_fell'
    | 'recount_failed'
    | 'total_fell'
    | 'out_of_reach';
  /** Records that the reason is about; null when their number is not known. */
  readonly count: number | null;
}

/** A stretch of the query of which the server counts more or fewer records at the end than were read. */
export interface CountDifference {
  /** Where it begins; null is the beginning of the query. */
  readonly from: string | null;
  /** Where it ends, not included; null is the end of the query. */
  readonly to: string | null;
  /** What the server counts. */
  readonly expected: number;
  /** What was read. */
  readonly read: number;
}

/**
 * What the server counts after everything was read, of the records that lie safely in the past: in one count for each 50
 * pages, at most 16, so that records that were removed do not hide others that came late.
 */
export interface Recount {
  /** The records before this naive time were counted; null when all records of the query were. */
  readonly before: string | null;
  /** What the server counts. */
  readonly expected: number;
  /** What was read, in all runs. */
  readonly read: number;
  /** The stretches that differ, also when they were counted twice. */
  readonly differences: readonly CountDifference[];
}

/** The result of a read. */
export interface Verdict {
  /** What was proved. */
  readonly proof: Proof;
  /** Why it is not `whole`; empty when it is. */
  readonly reasons: readonly VerdictReason[];
  /**
   * The count at the end. Null when there was none: the read had a single slice, whose pages carry the total of the whole
   * query, or no record of the query lies safely in the past, or a reason says why.
   */
  readonly recount: Recount | null;
  /** Records of the query, by the totals of its slices when they were read, in all runs. Null when the server gave none. */
  readonly total: number | null;
  /** Records delivered in this run, including changed ones. */
  readonly delivered: number;
  /** Records delivered by earlier runs, according to the checkpoint. */
  readonly deliveredBefore: number;
  /** Deliveries beyond the total, in all runs: changed records that came again, and records that the server then removed. */
  readonly surplus: number;
  /** Records received again and left out. */
  readonly duplicatesDropped: number;
  /** Records that changed while their slice was read, in all runs. They were delivered again, unless `onChange` is `keep`. */
  readonly changed: number;
  /** Records that could not be parsed, in all runs: left out, or passed to `onError` as bytes. */
  readonly skipped: number;
  /** Slices read again because their pages did not agree, in all runs. */
  readonly rereads: number;
  /** Slices read in this run. */
  readonly slices: number;
  /** Requests answered in this run. */
  readonly requests: number;
}

const short: ReadonlySet<VerdictReason['code']> = new Set(['skipped', 'count_rose']);

/** What the reasons leave of a proof. */
export function proofOf(reasons: readonly VerdictReason[]): Proof {
  if (reasons.some(({ code, count }) => short.has(code) || (code === 'out_of_reach' && count !== null)))
    return 'short';
  return reasons.length > 0 ? 'unproven' : 'whole';
}

/**
 * What an account of a read proves. It covers everything that was read, in all runs. `isEnd`: the read came to its end by
 * itself.
 */
export function verdictOf(
  { read, begun, counts }: Pick<Ledger, 'read' | 'begun' | 'counts'>,
  isEnd: boolean,
  recount: Recount | VerdictReason | null,
): Verdict {
  const { skipped, setAside, changed, isUnproven, expected, outOfReach } = read;
  const total = isUnproven ? null : read.total;
  const hasCount = recount !== null && 'read' in recount;
  const counted = hasCount ? differenceIn(recount) : recount === null ? [] : [recount];
  const missing = counted.find(({ code }) => code === 'count_rose')?.count ?? 0;
  // What the count at the end finds missing had been in the total before, too, as has what is out of reach.
  const fell = total === null || !isEnd ? 0 : expected - total - missing - (outOfReach ?? 0);
  const reasons: VerdictReason[] = [
    ...(isEnd ? [] : [{ code: 'left_early', count: null } as const]),
    ...(isUnproven ? [{ code: 'no_total', count: null } as const] : []),
    ...(skipped > 0 ? [{ code: 'skipped', count: skipped } as const] : []),
    ...(outOfReach === null ? [] : [{ code: 'out_of_reach', count: outOfReach || null } as const]),
    ...(fell > 0 ? [{ code: 'total_fell', count: fell } as const] : []),
    ...counted,
  ];
  return {
    proof: proofOf(reasons),
    reasons,
    recount: hasCount ? recount : null,
    total,
    delivered: read.delivered - begun.delivered,
    deliveredBefore: begun.delivered,
    surplus: total === null ? 0 : Math.max(0, read.delivered + skipped + setAside - total),
    duplicatesDropped: counts.duplicates,
    changed,
    skipped: skipped + setAside,
    rereads: Math.max(read.rereads, counts.rereads),
    slices: counts.slices,
    requests: counts.requests,
  };
}

function differenceIn({ differences }: Recount): VerdictReason[] {
  const missing = differences.map(({ expected, read }) => expected - read);
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + Math.max(0, count), 0);
  const [rose, fell] = [sum(missing), sum(missing.map((count) => -count))];
  return [
    ...(rose > 0 ? [{ code: 'count_rose', count: rose } as const] : []),
    ...(fell > 0 ? [{ code: 'count_fell', count: fell } as const] : []),
  ];
}

/**
 * A verdict in one sentence, which says no more than was proved.
 *
 * @example
 * console.log(describeVerdict(await calls.verdict)); // complete: 5,000 calls, as many as the server counts
 */
export function describeVerdict(verdict: Verdict): string {
  const { proof, reasons, delivered, deliveredBefore, total, skipped } = verdict;
  const all = deliveredBefore + delivered;
  const lost = reasons.find(({ code }) => code === 'skipped')?.count ?? 0;
  const setAside = skipped - lost;
  const facts = [...reasons.map((reason) => sentenceOf(reason, verdict)), ...notesOn(verdict)];
  const calls =
    setAside > 0
      ? `${plural(all, 'call')} written and ${plural(setAside, 'record')} set aside`
      : plural(all, 'call');
  const together = setAside > 0 ? 'together ' : '';
  const agrees = all + setAside === total ? `${calls}, ${together}as many as the server counts` : calls;
  const lead = {
    whole: `complete: ${agrees}`,
    unproven: `UNPROVEN: ${calls}`,
    short: `INCOMPLETE: ${calls}`,
  };
  return [lead[proof], ...facts].join('; ');
}

function sentenceOf({ code, count }: VerdictReason, { recount }: Verdict): string {
  const where = recount?.before ? ` before ${recount.before}` : '';
  switch (code) {
    case 'left_early':
      return 'the read was ended before its end';
    case 'no_total':
      return 'the server gave no total, so nothing proves that these are all';
    case 'skipped':
      return `${plural(count ?? 0, 'call')} could not be read`;
    case 'count_rose':
      return `at the end the server counts ${number(recount?.expected ?? 0)}${where}, of which ${plural(count ?? 0, 'call is', 'calls are')} missing here${placesOf(recount, code)}: read again from the beginning`;
    case 'count_fell':
      return `at the end the server counts ${number(recount?.expected ?? 0)}${where}, ${number(count ?? 0)} less than were read${placesOf(recount, code)}, so calls were removed or its counts disagree`;
    case 'total_fell':
      return `the server counted ${plural(count ?? 0, 'call')} more before than it then gave, so calls were removed or are missing`;
    case 'out_of_reach':
      return `the server does not give ${count === null ? 'all that lie' : `${plural(count, 'call')} that lie`} at one time`;
    case 'recount_failed':
      return 'the server did not give the count at the end that would confirm the sum';
  }
}

/** Where the counts differ, when that is known better than for the whole read. */
function placesOf(recount: Recount | null, code: 'count_rose' | 'count_fell'): string {
  const places = (recount?.differences ?? []).filter(
    ({ expected, read, from, to }) =>
      (from !== null || to !== (recount?.before ?? null)) && expected > read === (code === 'count_rose'),
  );
  const [first, ...others] = places;
  if (first === undefined) return '';
  const { from, to } = first;
  const place = from === null ? `before ${to}` : to === null ? `from ${from}` : `between ${from} and ${to}`;
  return ` ${place}${others.length > 0 ? ` and in ${plural(others.length, 'other place')}` : ''}`;
}

function notesOn(verdict: Verdict): string[] {
  const { surplus, changed, duplicatesDropped, rereads, recount, proof } = verdict;
  return [
    ...(surplus > 0
      ? [
          `${number(surplus)} more than the server counts, since calls were changed or removed while they were read`,
        ]
      : []),
    ...(duplicatesDropped > 0 ? [`dropped ${plural(duplicatesDropped, 'duplicate')}`] : []),
    ...(changed > 0 ? [`${plural(changed, 'call')} changed in the meantime`] : []),
    ...(rereads > 0 ? [`reread ${plural(rereads, 'slice')}`] : []),
    ...(proof === 'whole' && recount?.before
      ? [`counted up to ${recount.before}, later calls may follow`]
      : []),
  ];
}

const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
const plural = (value: number, one: string, many = `${one}s`): string =>
  `${number(value)} ${value === 1 ? one : many}`;
