// The options that say which calls are meant, and what is said of them.

import { day, everything, naiveAt, type Period, second, textOf } from '@call-attribution/core/time';
import { allOf, applyFix, type Filter, safeParse } from '@call-attribution/query-dsl';
import type { Definitions, ReadPeriod, SaidPeriod } from '@call-attribution/questions';
import type { NamedFiles } from '@call-attribution/settings';
import { type Args, interval } from '../../args.ts';
import { filterMistake, noTimeZone, UsageError } from '../../errors.ts';
import {
  countedText,
  inPeriod,
  leavesExtensions,
  rangeOf,
  withExtensions,
} from '../../input/filter.ts';
import { type Io, say } from '../../io.ts';

/** What a relative time is counted from. Without a time zone only absolute times can be read. */
export interface Present {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string | null;
}

/** The period that the options describe; without any, all of time. */
export async function askedPeriod(args: Args, present: Present): Promise<ReadPeriod> {
  const typed = (['period', 'from', 'to'] as const).filter((name) => args.flag(name));
  if (typed.length === 0) return { ...everything, moves: false, comparable: everything };
  return readTyped(Object.fromEntries(typed.map((name) => [name, args.text(name)])), present);
}

/** Reads `--period`, or `--from` and `--to`. */
export async function readTyped(typed: SaidPeriod, present: Present): Promise<ReadPeriod> {
  const { readPeriod } = await import('@call-attribution/questions');
  const period = readPeriod(typed, present);
  const words = Object.values(typed).map((text) => JSON.stringify(text));
  if (period.moves && present.timeZone === null) throw noTimeZone(words.join(' to '));
  return period;
}

/**
 * A period as it is said: its last second included, the time zone of its times, and how much of it
 * is over. Null for all of time.
 */
export async function periodText(
  period: Period,
  { now, timeZone }: Present,
): Promise<string | null> {
  if (period.from === null && period.to === null) return null;
  const zone = timeZone ?? 'in the time zone of the account';
  const last = period.to === null ? null : period.to - second;
  const { from, to } = textOf({ from: period.from, to: last });
  if (to === null) return `from ${from}, ${zone}`;
  const { partOver } = await import('@call-attribution/questions');
  const over = timeZone === null ? null : partOver(period, naiveAt(now, timeZone));
  const text = `${from ?? 'up'} to ${to}, ${zone}`;
  return over === null ? text : `${text} (${over} are over)`;
}

const said = new WeakMap<Io, Set<string>>();

/**
 * Says on stderr which period a command uses: each once, however many accounts there are. Nothing
 * without a period.
 */
export async function sayPeriod(period: Period, present: Present, io: Io): Promise<void> {
  const text = await periodText(period, present);
  const before = said.get(io) ?? new Set();
  if (text === null || before.has(text)) return;
  said.set(io, before.add(text));
  say(io, text);
}

/** How the options are read: the clock for relative times, the version for the fields there are. */
export interface FilterContext extends Present {
  readonly version: 'v2' | 'v3';
  /** Conditions with a name, of the configuration file. */
  readonly definitions: Definitions;
  /** Calls that do not count, by the configuration file; null for none. */
  readonly exclude: string | null;
  /** Files of what calls became, by their names there. */
  readonly outcomes: NamedFiles;
  /** The path of that file; empty without one. */
  readonly configFile: string;
}

/**
 * The filter that the options describe. `--q` and the other options all apply; without any, all
 * calls match. For an upload sheet the period begins `history` days earlier, and `--min-talk` is a
 * rule of the sheet.
 */
export async function filterOf(
  args: Args,
  context: FilterContext,
  history: number | null = null,
): Promise<Filter> {
  const period = await askedPeriod(args, context);
  const { from } = period;
  const begin = from === null || history === null ? from : from - history * day;
  return inPeriod(conditionsOf(args, context, history !== null), { ...period, from: begin });
}

/** What the options ask of the calls, apart from the time. */
export function conditionsOf(args: Args, { version }: FilterContext, isSheet = false): Filter {
  const text = args.text('q');
  const typed = text === null ? { clauses: [] } : readFilter(text, version);
  const talk = isSheet ? null : interval(args, 'min-talk', { min: 0 });

  // The API has tenths of a minute.
  const clauses =
    talk === null
      ? []
      : [rangeOf('talk_minutes', { from: String(Math.ceil(talk / 6_000) / 10), to: null })];
  const filter = allOf(typed, { clauses });
  if (!args.flag('include-extensions')) return filter;
  if (version === 'v2')
    throw new UsageError(
      'v2 always includes calls through call extensions; remove --include-extensions',
    );

  return withExtensions(filter, version);
}

function readFilter(text: string, version: 'v2' | 'v3'): Filter {
  const read = safeParse(text, { version });
  if (read.ok) return read.filter;
  const fixed = applyFix(text, read.problem);
  if (fixed !== undefined) throw filterMistake(read.problem, [`try --q '${fixed}'`]);

  // What the API cannot filter by is a condition.
  const { code, start, expected } = read.problem;
  const [, field, value] = /^(\w+)\s*[:=]\s*"?([\w .|&-]*)/.exec(text.slice(start)) ?? [];
  const filters = 'the API filters by time and talk time';
  if (code === 'unknown_field' && field !== undefined) {
    const where = `${field} = '${value?.trim() || '...'}'`;
    throw filterMistake(read.problem, [`${filters}; other fields: --where "${where}"`]);
  }

  const isCondition = expected.includes('date_added') || expected.includes(',');
  throw filterMistake(read.problem, isCondition ? [`${filters}; all else goes into --where`] : []);
}

/** Reports what v3 leaves out by default, so that nobody takes the rest for everything. */
export async function sayExtensions(filter: Filter, version: 'v2' | 'v3', io: Io): Promise<void> {
  if (leavesExtensions(filter, version)) await sayLeftOut(io);
}

/** Says that calls through call extensions are left out, where nobody has counted them. */
export const sayLeftOut = (io: Io): Promise<void> => sayCounted({ counted: 0, leftOut: null }, io);

/** Says how calls through call extensions are counted, where numbers could differ. */
export async function sayCounted(
  extensions: Parameters<typeof countedText>[0],
  io: Io,
): Promise<void> {
  const sentence = await countedText(extensions);
  if (sentence !== '') say(io, sentence);
}
