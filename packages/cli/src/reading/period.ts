import { formatNaive, parseNaive, second } from '@call-attribution/core/time';
import type { NaiveRange } from '../args/time.ts';
import { type Io, say } from '../io.ts';
import type { FilterContext } from './filter.ts';

/** A period as it is said: its last second included, and the time zone of its times. Null for all of time. */
export function periodText({ from, to }: NaiveRange, timeZone: string | null): string | null {
  if (from === null && to === null) return null;
  const zone = timeZone ?? 'in the time zone of the account';
  if (to === null) return `from ${from}, ${zone}`;
  const last = formatNaive(parseNaive(to) - second);
  return `${from === null ? 'up' : from} to ${last}, ${zone}`;
}

const said = new WeakMap<Io, Set<string>>();

/** Says on stderr which period a command uses: each once, however many accounts there are. Nothing without a period. */
export function sayPeriod(range: NaiveRange, { timeZone }: Pick<FilterContext, 'timeZone'>, io: Io): void {
  const text = periodText(range, timeZone);
  const before = said.get(io) ?? new Set();
  if (text === null || before.has(text)) return;
  said.set(io, before.add(text));
  say(io, text);
}
