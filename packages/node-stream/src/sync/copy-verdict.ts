import type { TimeSlice } from '../calls/time-slice.ts';
import { type Proof, proofOf, type VerdictReason } from '../reader/verdict.ts';
import { endOf, isWhole, overlap, type Stretch, startOf } from './stretches.ts';
import { checkState, type SyncState } from './sync-state.ts';

/** A stretch of a copy that is not whole. */
export interface Gap extends TimeSlice {
  /** `unread`: it has not been read yet. `unproven`: nothing proves that it is complete. `short`: calls are missing. */
  readonly is: 'unread' | 'unproven' | 'short';
  /** Calls that the server counts and that the copy lacks; null when nobody knows. */
  readonly missing: number | null;
  /** Why it is not whole. */
  readonly reasons: readonly VerdictReason[];
}

/** What a copy proves of its calls. */
export interface CopyVerdict {
  /**
   * `whole`: the copy has every call that the server had when it was counted. `unproven`: something has not been read yet, or
   * nothing proves that it is complete. `short`: calls are known to be missing.
   */
  readonly proof: Proof;
  /** Why it is not `whole`; empty when it is. */
  readonly reasons: readonly VerdictReason[];
  /** Calls of the server, as far as they were counted. */
  readonly calls: number;
  /** Those of them that are known to be missing. */
  readonly missing: number;
  /** What is not whole, in order of time. */
  readonly gaps: readonly Gap[];
}

/**
 * What the state of a sync proves of the calls of a period. Null when no sync has begun.
 *
 * @param state as a sink or a state store keeps it.
 * @example
 * const verdict = copyVerdict(await sink.load());
 * if (verdict?.proof !== 'whole') console.error(describeCopy(verdict));
 */
export function copyVerdict(
  state: unknown,
  period: TimeSlice = { from: null, to: null },
): CopyVerdict | null {
  if (state === null || state === undefined) return null;
  return verdictOfState(checkState(state), period);
}

/** The same of a state that is known to be one. */
export function verdictOfState(
  { parts }: SyncState,
  period: TimeSlice = { from: null, to: null },
): CopyVerdict {
  const lists = parts.map(({ stretches }) => stretches.filter((stretch) => overlap(stretch, period)));
  const gaps = lists.flatMap((list) => gapsOf(list)).sort((a, b) => (startOf(a) < startOf(b) ? -1 : 1));
  const reasons = summed(gaps.flatMap((gap) => gap.reasons));
  const missing = gaps.reduce((sum, gap) => sum + (gap.missing ?? 0), 0);
  // Calls of several filters are partly the same: what is counted is the part with the most.
  const counts = lists.map((list) => list.reduce((sum, { calls }) => sum + (calls ?? 0), 0));
  return {
    proof: proofOf(reasons),
    reasons,
    calls: Math.max(0, ...counts) + missing,
    missing,
    gaps,
  };
}

function gapsOf(list: readonly Stretch[]): Gap[] {
  const gaps: Gap[] = [];
  for (const stretch of list) {
    if (isWhole(stretch)) continue;
    const gap = gapOf(stretch);
    const last = gaps.at(-1);
    if (last?.is === gap.is && endOf(last) === startOf(gap)) gaps[gaps.length - 1] = joinedGap(last, gap);
    else gaps.push(gap);
  }
  return gaps;
}

function gapOf({ from, to, is, missing, reasons = [{ code: 'left_early', count: null }] }: Stretch): Gap {
  const kind = is === 'unread' || is === 'short' ? is : 'unproven';
  return { from, to, is: kind, missing: kind === 'short' ? (missing ?? null) : null, reasons };
}

function joinedGap(a: Gap, b: Gap): Gap {
  const missing = a.missing === null || b.missing === null ? null : a.missing + b.missing;
  return { from: a.from, to: b.to, is: a.is, missing, reasons: summed([...a.reasons, ...b.reasons]) };
}

/** Each reason once, with the sum of its counts. */
function summed(reasons: readonly VerdictReason[]): VerdictReason[] {
  const sums = new Map<VerdictReason['code'], number | null>();
  for (const { code, count } of reasons) {
    const before = sums.get(code) ?? null;
    sums.set(code, count === null ? before : (before ?? 0) + count);
  }
  return [...sums].map(([code, count]) => ({ code, count }));
}

/**
 * What a copy lacks, in one sentence; null when it is whole.
 *
 * @example
 * describeCopy(verdict); // short: 100 calls of 5,000 are missing between 2026-10-03 00:00:00 and 2026-10-04 00:00:00
 */
export function describeCopy({ gaps, calls }: Pick<CopyVerdict, 'gaps' | 'calls'>): string | null {
  const kinds = (['short', 'unproven', 'unread'] as const).filter((kind) =>
    gaps.some(({ is }) => is === kind),
  );
  const facts = kinds.map((kind) =>
    sentenceOf(
      kind,
      gaps.filter(({ is }) => is === kind),
      calls,
    ),
  );
  return facts.length === 0 ? null : facts.join('; ');
}

function sentenceOf(kind: Gap['is'], gaps: readonly Gap[], calls: number): string {
  const where = `${timesOf(gaps[0])}${gaps.length > 1 ? ` and in ${plural(gaps.length - 1, 'more stretch', 'more stretches')}` : ''}`;
  if (kind === 'unread') return `incomplete: the calls ${where} have not been read yet`;
  const missing = gaps.reduce((sum, gap) => sum + (gap.missing ?? 0), 0);
  if (kind === 'short')
    return `short: ${plural(missing, 'call')} of ${number(calls)} ${missing === 1 ? 'is' : 'are'} missing ${where}`;
  const codes = new Set(gaps.flatMap(({ reasons }) => reasons.map(({ code }) => code)));
  const fell = summed(gaps.flatMap(({ reasons }) => reasons)).find(({ code }) => code === 'count_fell');
  const why = codes.has('no_total')
    ? `the server gave no total of the calls ${where}`
    : fell
      ? `the server counts ${plural(fell.count ?? 0, 'call')} less than were read ${where}`
      : `the calls ${where} have not been counted yet`;
  return `unproven: ${why}`;
}

function timesOf(gap: TimeSlice | undefined): string {
  const { from = null, to = null } = gap ?? {};
  if (from !== null && to !== null) return `between ${from} and ${to}`;
  if (to !== null) return `before ${to}`;
  return from === null ? 'of all times' : `from ${from} on`;
}

const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
const plural = (value: number, one: string, many = `${one}s`): string =>
  `${number(value)} ${value === 1 ? one : many}`;
