import { formatNaive, naiveAt, parseNaive, second } from '@call-attribution/core/time';
import { type Period, partOver, readPeriod, type SaidPeriod } from '@call-attribution/questions';
import type { Args } from '../args.ts';
import { UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';

/** What a relative time is counted from. Without a time zone only absolute times can be read. */
export interface Present {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string | null;
}

/** A half-open range of naive times; an open end is null. */
export interface NaiveRange {
  readonly from: string | null;
  readonly to: string | null;
}

/** A range that was read. */
export interface ReadRange extends NaiveRange {
  /** Whether it is another one each day, as `yesterday` is. */
  readonly moves: boolean;
}

/** The range of time that the options describe. */
export function rangeOf(args: Args, present: Present): ReadRange {
  const typed = (['period', 'from', 'to'] as const).map((name) => [name, args.text(name)] as const);
  return readRange(Object.fromEntries(typed.filter(([, text]) => text !== null)), present);
}

/** Reads `--period`, or `--from` and `--to`, as the two ends of a range. */
export function readRange(typed: SaidPeriod, present: Present): ReadRange {
  const period = readPeriod(typed, present);
  const { moves } = period;
  if (moves && present.timeZone === null) {
    const words = Object.values(typed).map((text) => JSON.stringify(text));
    throw new UsageError(
      `${words.join(' to ')} needs a time zone: the API does not say which time zone its times are in`,
      { hints: ['add --time-zone America/New_York (the time zone of the account), or set CALLS_TIME_ZONE'] },
    );
  }
  return { ...naiveRange(period), moves };
}

/** The times of a period that a question has worked out. */
export function naiveRange({ from, to }: Period): NaiveRange {
  return { from: from === null ? null : formatNaive(from), to: to === null ? null : formatNaive(to) };
}

/** A period as it is said: its last second included, the time zone of its times, and how much of it is over. Null for all of time. */
export function periodText({ from, to }: NaiveRange, { now, timeZone }: Present): string | null {
  if (from === null && to === null) return null;
  const zone = timeZone ?? 'in the time zone of the account';
  if (to === null) return `from ${from}, ${zone}`;
  const ends = { from: from === null ? null : parseNaive(from), to: parseNaive(to) };
  const over = timeZone === null ? null : partOver(ends, naiveAt(now, timeZone));
  const text = `${from ?? 'up'} to ${formatNaive(ends.to - second)}, ${zone}`;
  return over === null ? text : `${text} (${over} are over)`;
}

const said = new WeakMap<Io, Set<string>>();

/** Says on stderr which period a command uses: each once, however many accounts there are. Nothing without a period. */
export function sayPeriod(range: NaiveRange, present: Present, io: Io): void {
  const text = periodText(range, present);
  const before = said.get(io) ?? new Set();
  if (text === null || before.has(text)) return;
  said.set(io, before.add(text));
  say(io, text);
}
