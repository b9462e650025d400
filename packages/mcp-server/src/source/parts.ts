import type { Client, Clock, Version } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { day, formatNaive, hour } from '@call-attribution/core/time';
import type { Checkpoint } from '@call-attribution/node-stream';
import type { Period, Zones } from '@call-attribution/questions';
import type { RecordMask } from '../privacy/mask-record.ts';
import { isObject } from '../protocol/messages.ts';
import { failureText, ToolError } from '../text/failures.ts';
import type { Unfinished } from '../text/summaries.ts';
import type { Allowance, ApiReads, ReadLimits, Stretch } from './api-reads.ts';
import type { Origin, ReadRun } from './source.ts';
import type { Tally } from './tallies.ts';

// A question is read in parts: an account and a stretch of time each. Each part is saved and goes on for itself.

/** An account that is read over the API. */
export interface ApiAccount {
  readonly name: string;
  readonly version: Version;
  readonly client: () => Promise<Client>;
  readonly reads: ApiReads;
  readonly mask: RecordMask;
}

/** What the source needs besides its accounts. */
export interface ApiSettings {
  readonly limits: ReadLimits;
  /** The time in milliseconds since 1970. */
  readonly clock: Pick<Clock, 'now'>;
}

/** One account and stretch of a question. */
interface SavedPart {
  readonly account: string;
  /** URL of the API: the same keys may be those of a test server, whose calls are others. */
  readonly api: string;
  readonly from: string | null;
  /** Where to go on; null when it was read whole. */
  readonly checkpoint: Checkpoint | null;
  readonly asOf: number;
  readonly read: number;
  readonly tally: unknown;
}

/** What was read of it. */
export interface PartRead<T> {
  readonly tally: T;
  /** Null when nothing of it was read. */
  readonly saved: () => SavedPart | null;
  readonly asOf: number;
  readonly read: number;
  readonly total: number | null;
  readonly why: Unfinished['why'] | null;
  readonly doubt: string | null;
}

/** Reads stretches of all accounts, one after the other, as far as one tool call may. */
export async function readAll<T extends Tally>(
  accounts: readonly ApiAccount[],
  { limits, clock }: ApiSettings,
  stretches: readonly Stretch[],
  make: () => T,
  run: ReadRun,
): Promise<{ readonly parts: readonly PartRead<T>[]; readonly failed: readonly FailedAccount[] }> {
  const allowance = { calls: limits.maxCalls, until: run.began + limits.maxTime };
  const saved = savedParts(run.saved);
  const parts: PartRead<T>[] = [];
  const failed: FailedAccount[] = [];
  for (const account of accounts) {
    for (const stretch of stretches) {
      const before = saved.find((each) => each.account === account.name && each.from === stretch.from);
      // One page of each part that is left would take longer than a tool call may.
      if (parts.length > 0 && before?.checkpoint !== null && clock.now() > allowance.until) {
        parts.push(leftOver(make(), before, clock.now()));
        continue;
      }
      try {
        parts.push(await readPart(account, stretch, before, make(), allowance, run));
      } catch (error) {
        run.signal.throwIfAborted();
        failed.push(failureOf(account.name, error, accounts));
        break;
      }
    }
  }
  if (parts.length === 0) throw failed[0]?.error ?? new Error('nothing was read');
  return { parts, failed };
}

/** An account that cannot be read, while others can. */
export interface FailedAccount {
  readonly account: string;
  readonly error: ToolError;
}

/** Asks each account. Throws when none answers. */
export async function askAll<Account extends { readonly name: string }, T>(
  accounts: readonly Account[],
  { signal }: Pick<ReadRun, 'signal'>,
  ask: (account: Account) => Promise<T>,
): Promise<{ readonly found: readonly T[]; readonly failed: readonly FailedAccount[] }> {
  const answers = await Promise.all(
    accounts.map(async (account) => {
      try {
        return { found: [await ask(account)], failed: [] };
      } catch (error) {
        signal.throwIfAborted();
        return { found: [], failed: [failureOf(account.name, error, accounts)] };
      }
    }),
  );
  const [found, failed] = [answers.flatMap((each) => each.found), answers.flatMap((each) => each.failed)];
  const [first] = failed;
  if (found.length === 0 && first !== undefined) throw first.error;
  return { found, failed };
}

/** What to say of an answer without the accounts that cannot be read. */
export function withoutFailed(failed: readonly FailedAccount[]): Pick<Origin, 'notes' | 'unfinished'> {
  if (failed.length === 0) return { notes: [] };
  const accounts = failed.map(({ account }) => account);
  return { notes: notesOf(failed), unfinished: { read: 0, total: null, why: { code: 'account', accounts } } };
}

const notesOf = (failed: readonly FailedAccount[]): readonly string[] =>
  failed.map(({ error }) => failureText(error.problem).replaceAll('\n', ' '));

/** A period as the API writes times. */
export const namedPeriod = ({ from, to }: { readonly from: number | null; readonly to: number | null }) => ({
  from: from === null ? null : formatNaive(from),
  to: to === null ? null : formatNaive(to),
});

/**
 * A period of another time zone as the API is asked for it. Clocks of two zones are at most a day and two hours apart, and what is read
 * too much is not counted.
 */
export function sentPeriod({ from, to }: Period, { timeZone, inZone }: Zones): Period {
  if (inZone === null || inZone === timeZone) return { from, to };
  const margin = day + 2 * hour;
  return { from: from === null ? null : from - margin, to: to === null ? null : to + margin };
}

/** A part that this tool call has no time for. */
const leftOver = <T extends Tally>(tally: T, before: SavedPart | undefined, now: number): PartRead<T> => ({
  tally,
  saved: () => before ?? null,
  asOf: before?.asOf ?? now,
  read: before?.read ?? 0,
  total: null,
  why: { code: 'time' },
  doubt: null,
});

/** Periods as stretches without a call in two of them. */
export function stretchesOf(
  periods: readonly { readonly from: number | null; readonly to: number | null }[],
  clauses: Stretch['clauses'],
): Stretch[] {
  const [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const spans = periods.map(({ from, to }) => ({ from: from ?? low, to: to ?? high }));
  spans.sort((a, b) => a.from - b.from);
  const joined: { from: number; to: number }[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last === undefined || span.from > last.to) joined.push({ ...span });
    else last.to = Math.max(last.to, span.to);
  }
  return joined.map(({ from, to }) => ({
    ...namedPeriod({ from: from === low ? null : from, to: to === high ? null : to }),
    clauses,
  }));
}

async function readPart<T extends Tally>(
  { name, client, reads, mask }: ApiAccount,
  stretch: Stretch,
  saved: SavedPart | undefined,
  tally: T,
  allowance: Allowance,
  run: ReadRun,
): Promise<PartRead<T>> {
  const { baseUrl: api } = await client();
  const before = saved?.api === api ? saved : undefined;
  const part = (read: Omit<PartRead<T>, 'tally' | 'saved'>, checkpoint: Checkpoint | null): PartRead<T> => ({
    ...read,
    tally,
    saved: () => ({
      account: name,
      api,
      from: stretch.from,
      checkpoint,
      asOf: read.asOf,
      read: read.read,
      tally: tally.save(),
    }),
  });
  if (before !== undefined && before.checkpoint === null) {
    tally.merge(before.tally);
    const { asOf, read } = before;
    return part({ asOf, read, total: read, why: null, doubt: null }, null);
  }
  const resume = () => {
    if (before?.checkpoint == null) return null;
    tally.merge(before.tally);
    return { checkpoint: before.checkpoint, asOf: before.asOf };
  };
  const take = (calls: Parameters<Tally['add']>[0]) => tally.add(calls, name, mask);
  const { checkpoint, ...read } = await reads.read(stretch, allowance, take, run, resume);
  return part(read, checkpoint);
}

/** All parts as one. */
export function wholeOf<T extends Tally>(parts: readonly PartRead<T>[], make: () => T): T {
  const [only, ...others] = parts;
  if (only && others.length === 0) return only.tally;
  const whole = make();
  for (const { tally } of parts) whole.merge(tally.save());
  return whole;
}

/** What all parts together say of where they come from. */
export function originOf(parts: readonly PartRead<Tally>[], failed: readonly FailedAccount[]): Origin {
  const asOf = new Date(Math.min(...parts.map((part) => part.asOf))).toISOString();
  const without = withoutFailed(failed);
  const said = [...without.notes, ...parts.flatMap(({ doubt }) => (doubt === null ? [] : [`${doubt}.`]))];
  const why = parts.find((part) => part.why !== null)?.why ?? null;
  if (why === null) return { ...without, asOf, notes: said };
  const totals = parts.map(({ total }) => total);
  return {
    asOf,
    notes: said,
    unfinished: {
      read: parts.reduce((sum, { read }) => sum + read, 0),
      total: totals.reduce(
        (sum, total) => (sum === null || total === null ? null : sum + total),
        0 as number | null,
      ),
      why,
      saved: { parts: parts.flatMap(({ saved }) => saved() ?? []) },
    },
  };
}

/** What an earlier tool call has saved. It was written by this program. */
function savedParts(saved: unknown): readonly SavedPart[] {
  return isObject(saved) && Array.isArray(saved.parts) ? saved.parts : [];
}

/** What it says of one of several accounts that it cannot be read. Throws what is no fault of one account. */
function failureOf(account: string, error: unknown, accounts: readonly unknown[]): FailedAccount {
  if (accounts.length > 1) {
    if (error instanceof ToolError && error.problem.code === 'no_client')
      return { account, error: new ToolError({ ...error.problem, account }) };
    if (error instanceof CallsError && error.name !== 'QuestionError')
      return { account, error: new ToolError({ code: 'api_error', tool: account, error }) };
  }
  throw error;
}
