import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { formatNaive, parseNaive, periodEnd } from '@call-attribution/core/time';
import { sandboxDefaults } from '../defaults.ts';
import { type GeneratedAccount, makeAccount, peopleOf } from './account.ts';
import { callMaker, type GeneratedCall } from './make-call.ts';
import { mix } from './random.ts';
import { day, Rhythm } from './rhythm.ts';

/** What to generate. The same options give the same calls, byte for byte, on every machine. */
export interface GenerateOptions {
  /** The number of calls over all accounts. Default 2,000. */
  readonly records?: number | undefined;
  /** The seed of all randomness. Default 1. */
  readonly seed?: number | undefined;
  /** The number of accounts that share the calls; the first has the most. Default 1. */
  readonly accounts?: number | undefined;
  /** The number of days over which the calls are spread. Default 90. */
  readonly days?: number | undefined;
  /**
   * The end of these days: a date, which includes its day, or `YYYY-MM-DD HH:MM:SS`. Ad data is as
   * it would be at this time. Default: for `startSandbox` now in UTC, for `generate`, which has no
   * clock, `2026-11-01 00:00:00`.
   */
  readonly to?: string | undefined;
}

/** The options with their defaults. `to` is where the days end. */
function generateSettings({ to: given, ...options }: GenerateOptions) {
  const { records = sandboxDefaults.records, seed = sandboxDefaults.seed } = options;
  const { accounts = sandboxDefaults.accounts, days = sandboxDefaults.days } = options;
  whole('records', records, 0, 1e8);
  whole('seed', seed, 0, 0xffffffff);
  whole('accounts', accounts, 1, 1000);
  whole('days', days, 1, 36_500);
  const to = given === undefined ? undefined : periodEnd(given);
  if (to === null)
    throw new ConfigurationError(
      'invalid_option',
      `to is "${given}": expected a date or a time, such as 2026-11-01 or ${sandboxDefaults.to}`,
    );

  return { records, seed, accounts, days, to };
}

/** The generated calls of one account. */
export interface GeneratedCalls {
  readonly account: GeneratedAccount;
  /** This account's share of the calls. */
  readonly records: number;
  /** The calls, ordered by time. */
  calls(): Iterable<Call>;
  /**
   * Call number `i` as it is at `asOf` (seconds of wall time). A call after the last one needs a
   * `time`.
   */
  at(i: number, asOf: number, time?: number): GeneratedCall;
  /** When the calls end, in seconds of wall time. */
  readonly to: number;
}

/**
 * Accounts and their calls, made when they are read. Without `to`, the calls end at `present`, in
 * seconds of wall time, and those of the same day are the same: a later `present` has further
 * calls, and as many of the first ones fewer.
 */
export function generatedAccounts(
  options: GenerateOptions,
  present?: number,
): readonly GeneratedCalls[] {
  const settings = generateSettings(options);
  const { records, seed, accounts, days } = settings;
  const to =
    settings.to ?? (present === undefined ? sandboxDefaults.to : formatNaive(present * 1000));
  const end = parseNaive(to) / 1000;
  const shares = shareOut(records, accounts);
  const place = settings.to === undefined && present !== undefined ? upToPresent : upToEnd;
  return shares.map((count, index) => source(makeAccount(seed, index), count, days, end, place));
}

/**
 * Generates generated calls, account after account, each ordered by time.
 *
 * @example
 * for (const call of generate({ records: 1000, seed: 7 })) console.log(call.sid,
 * call.talk_minutes);
 */
export function* generate(options: GenerateOptions = {}): Generator<Call, void, undefined> {
  for (const account of generatedAccounts(options)) yield* account.calls();
}

/** The numbers of an account's calls from `first` on, and the time of each. */
interface Timeline {
  readonly first: number;
  timeOf(i: number): number;
}
type Place = (seed: number, records: number, days: number, end: number) => Timeline;

function source(
  account: GeneratedAccount,
  records: number,
  days: number,
  to: number,
  place: Place,
): GeneratedCalls {
  let known: Timeline | undefined;
  const timeline = () => (known ??= place(account.seed, records, days, to));
  const make = callMaker(account, peopleOf(account));

  const at: GeneratedCalls['at'] = (i, asOf, time) => {
    const { first, timeOf } = timeline();
    return make(first + i, time ?? timeOf(first + i), asOf);
  };

  return {
    account,
    records,
    to,
    at,
    *calls() {
      for (let i = 0; i < records; i++) yield at(i, to).call;
    },
  };
}

const upToEnd: Place = (seed, records, days, end) => ({
  first: 0,
  timeOf: timesOf(seed, records, new Rhythm(seed, end - days * day, end)),
});

/**
 * The calls of whole days, today's included, of which the last ones before the present are taken.
 */
const upToPresent: Place = (seed, records, days, present) => {
  const today = Math.floor(present / day) * day;
  let from = today - days * day;
  let rhythm = new Rhythm(seed, from, today + day);

  // Where nearly all days before today are closed, it takes more of them.
  while (rhythm.shareBefore(today) < 0.05) {
    from -= day;
    rhythm = new Rhythm(seed, from, today + day);
  }

  const all = Math.ceil(records / rhythm.shareBefore(today)) + 1;
  const timeOf = timesOf(seed, all, rhythm);
  let low = records;
  let high = all;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(middle) < present) low = middle + 1;
    else high = middle;
  }

  return { first: low - records, timeOf };
};

/** The time of each of so many calls. It never decreases from one call to the next. */
function timesOf(seed: number, records: number, rhythm: Rhythm): (i: number) => number {
  return (i) => {
    // Some calls arrive in the same second as the one before.
    const noise = mix(seed + Math.imul(i, 0x85ebca6b));
    const slot = i > 0 && (noise & 63) === 0 ? i - 1 : i;
    const place = mix(seed + Math.imul(slot, 0xc2b2ae35)) / 4294967296;
    return rhythm.at((slot + place) / Math.max(records, 1));
  };
}

// Each account has half as many calls as the one before it; rounding loses none.
function shareOut(records: number, accounts: number): number[] {
  const weights = Array.from({ length: accounts }, (_, i) => 0.5 ** Math.min(i, 6));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  let given = 0;
  let sum = 0;
  return weights.map((weight) => {
    sum += weight;
    const upTo = Math.round((records * sum) / all);
    const count = upTo - given;
    given = upTo;
    return count;
  });
}

function whole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new ConfigurationError(
    'invalid_option',
    `${name} is ${value}: expected a whole number from ${least} to ${most}`,
  );
}
