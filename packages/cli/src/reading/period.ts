import { formatNaive, naiveAt, parseNaive, second } from '@call-attribution/core/time';
import { partOver } from '@call-attribution/questions';
import type { NaiveRange, Present } from '../args/time.ts';
import { type Io, say } from '../io.ts';

/** A period as it is said: its last second included, the time zone of its times, and how much of it is over. Null for all of time. */
export function periodText({ from, to }: NaiveRange, { now, timeZone }: Present): string | null {
  if (from === null && to === null) return null;
  const zone = timeZone ?? 'in the time zone of the account';
  if (to === null) return `from ${from}, ${zone}`;
  const last = formatNaive(parseNaive(to) - second);
  const ends = { from: from === null ? null : parseNaive(from), to: parseNaive(to) };
  const over = timeZone === null ? null : partOver(ends, naiveAt(now, timeZone));
  const text = `${from ?? 'up'} to ${last}, ${zone}`;
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
