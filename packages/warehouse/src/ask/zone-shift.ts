import { day, formatNaive, instantOf, naiveAt, offsetAt, second } from '@call-attribution/core/time';
import { fn } from '../sql/functions.ts';
import { cast, column, literal, op, type Sql, when } from '../sql/tree.ts';

/** From this naive time on, times are shown this much later; up to the next one. */
export interface Shift {
  readonly from: number;
  readonly millis: number;
}

// Outside these years no zone's rules are known; their edges stand for all that lies beyond.
const earliest = Date.UTC(1900, 0, 1);
const latest = Date.UTC(2100, 0, 1);

/**
 * How naive times of one zone become naive times of another, between two moments. Follows core's rules: of a time that
 * the clocks showed twice the first is meant, and a time they skipped is moved by the length of the gap.
 */
export function shiftsBetween(zone: string, other: string, first: number, last: number): Shift[] {
  const from = Math.min(Math.max(first, earliest), latest) - 2 * day;
  const to = Math.min(Math.max(last, earliest), latest) + 2 * day;
  const ours = transitions(zone, from, to);
  const theirs = transitions(other, from, to);
  const offsets = new Set([offsetAt(from, zone), ...ours.flatMap(({ before, after }) => [before, after])]);
  // Between two of these the shift is the same; some of them change nothing.
  const candidates = [
    ...ours.flatMap(({ at, before, after }) => [at + before, at + after]),
    ...theirs.flatMap(({ at }) => [...offsets].map((offset) => at + offset)),
  ].sort((a, b) => a - b);
  const shiftAt = (naive: number): number => naiveAt(instantOf(naive, zone).epochMs, other) - naive;
  const shifts: Shift[] = [{ from: Number.NEGATIVE_INFINITY, millis: shiftAt(from) }];
  for (const candidate of candidates) {
    const millis = shiftAt(candidate);
    if (millis !== shifts.at(-1)?.millis) shifts.push({ from: candidate, millis });
  }
  return shifts;
}

interface Transition {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

/** The instants at which the clocks of a zone are set. */
function transitions(zone: string, from: number, to: number): Transition[] {
  const found: Transition[] = [];
  for (let start = from; start < to; start += day) {
    const before = offsetAt(start, zone);
    const after = offsetAt(start + day, zone);
    if (before === after) continue;
    let [low, high] = [start, start + day];
    while (high - low > second) {
      const middle = Math.floor((low + high) / 2 / second) * second;
      if (offsetAt(middle, zone) === before) low = middle;
      else high = middle;
    }
    found.push({ at: high, before, after });
  }
  return found;
}

/** The time of a call as SQL, moved by the shifts. */
export function shiftedTime(shifts: readonly Shift[]): Sql {
  const added = column('date_added');
  if (shifts.every(({ millis }) => millis === 0)) return added;
  const last = literal(shifts.at(-1)?.millis ?? 0);
  const whens = shifts.slice(0, -1).map(({ millis }, i) => {
    const end = cast(literal(formatNaive(shifts[i + 1]?.from ?? latest)), 'TIMESTAMP');
    return [op('<', added, end), literal(millis)] as const;
  });
  return op('+', added, fn.toMilliseconds(whens.length === 0 ? last : when(whens, last)));
}
