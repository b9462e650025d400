import type { Call } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { sandboxDefaults } from '../defaults.ts';
import { type MadeUpAccount, makeAccount, peopleOf } from './account.ts';
import { callMaker, type MadeUpCall } from './make-call.ts';
import { mix } from './random.ts';
import { day, Rhythm } from './rhythm.ts';

/** What to generate. The same options give the same calls, byte for byte, on every machine. */
export interface GenerateOptions {
  /** The number of calls over all accounts. Default 2,000. */
  readonly records?: number;
  /** The seed of all randomness. Default 1. */
  readonly seed?: number;
  /** The number of accounts that share the calls; the first has the most. Default 1. */
  readonly accounts?: number;
  /** The number of days over which the calls are spread. Default 90. */
  readonly days?: number;
  /** The end of these days, `YYYY-MM-DD HH:MM:SS`. Ad data is as it would be at this time. Default `2026-11-01 00:00:00`. */
  readonly until?: string;
}

/** The made-up calls of one account. */
export interface MadeUpCalls {
  readonly account: MadeUpAccount;
  /** This account's share of the calls. */
  readonly records: number;
  /** The calls, ordered by time. */
  calls(): Iterable<Call>;
  /** Call number `i` as it is at `asOf` (seconds of wall time). A call after the last one needs a `time`. */
  at(i: number, asOf: number, time?: number): MadeUpCall;
  /** When the calls end, in seconds of wall time. */
  readonly until: number;
}

/** Accounts and their calls, made when they are read. */
export function madeUpAccounts(options: GenerateOptions = {}): readonly MadeUpCalls[] {
  const {
    records = sandboxDefaults.records,
    seed = sandboxDefaults.seed,
    accounts = sandboxDefaults.accounts,
    days = sandboxDefaults.days,
    until = sandboxDefaults.until,
  } = options;
  whole('records', records, 0, 1e8);
  whole('accounts', accounts, 1, 1000);
  whole('days', days, 1, 36_500);
  whole('seed', seed, 0, 0xffffffff);
  const end = parseNaive(until) / 1000;
  if (!Number.isInteger(end)) {
    throw new RangeError(
      `until is "${until}": expected YYYY-MM-DD HH:MM:SS, for example ${sandboxDefaults.until}`,
    );
  }
  const shares = shareOut(records, accounts);
  return shares.map((count, index) => source(makeAccount(seed, index), count, end - days * day, end));
}

/**
 * Generates made-up calls, account after account, each ordered by time.
 *
 * @example
 * for (const call of generate({ records: 1000, seed: 7 })) console.log(call.sid, call.talk_minutes);
 */
export function* generate(options: GenerateOptions = {}): Generator<Call, void, undefined> {
  for (const account of madeUpAccounts(options)) yield* account.calls();
}

function source(account: MadeUpAccount, records: number, from: number, until: number): MadeUpCalls {
  let rhythm: Rhythm | undefined;
  const make = callMaker(account, peopleOf(account));
  const timeOf = (i: number) => {
    rhythm ??= new Rhythm(account.seed, from, until);
    // Some calls arrive in the same second as the one before.
    const noise = mix(account.seed + Math.imul(i, 0x85ebca6b));
    const slot = i > 0 && (noise & 63) === 0 ? i - 1 : i;
    const place = mix(account.seed + Math.imul(slot, 0xc2b2ae35)) / 4294967296;
    return rhythm.at((slot + place) / Math.max(records, 1));
  };
  return {
    account,
    records,
    until,
    at: (i, asOf, time = timeOf(i)) => make(i, time, asOf),
    *calls() {
      for (let i = 0; i < records; i++) yield make(i, timeOf(i), until).call;
    },
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
  throw new RangeError(`${name} is ${value}: expected a whole number from ${least} to ${most}`);
}
