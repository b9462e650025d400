import type { Client } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import type { TimeSlice } from '@call-attribution/node-stream';
import { answer, differences } from '../proof/differences.ts';
import { inTarget, type Ledger, ledgerOf, onServer } from '../proof/ledger.ts';
import { serverTotal } from '../proof/server-total.ts';
import type { Target } from '../target/target.ts';
import { whyDiffers, whyMissing, whyTorn, whyUnplanned } from './verdict-words.ts';

/** What was found out about an account. */
export interface AccountVerdict {
  /** Its id. */
  readonly account: string;
  /** Its name for people. */
  readonly name: string | null;
  /** Parcels that are committed, of how many. */
  readonly parcels: { readonly committed: number; readonly of: number };
  /** Records by the verdicts of the parcels. */
  readonly records: number;
  /** Records by the server, up to where the plan ends; null when it could not be asked. */
  readonly total: number | null;
  /** Records in the target, up to there; null when only its verdicts know. */
  readonly stored: number | null;
  /**
   * `proved`: all parcels are committed, and the target has as many records as the server; `not whole`: parcels are missing; `differs`:
   * all are committed, but the numbers are not equal or a file is not as it was written; `unknown`: the server could not be asked.
   */
  readonly verdict: 'proved' | 'not whole' | 'differs' | 'unknown';
  /** Why it is not `proved`, in one sentence. */
  readonly why: string | null;
  /** Code of the error with `unknown`. */
  readonly code: string | null;
  /** Indexes of the parcels that are missing or differ. Differences that cancel each other out are found by `deep` only. */
  readonly differing: readonly number[];
}

/** An account to verify, and how. */
export interface VerifySet {
  readonly account: string;
  readonly name: string | null;
  readonly target: Target;
  readonly filter: string;
  readonly isDeep: boolean;
  readonly signal: AbortSignal | undefined;
  /** Runs requests of the account. */
  reach<T>(work: (client: Client) => Promise<T>): Promise<T>;
}

/** Verifies one account, from the target and the server alone. */
export async function verifyAccount(set: VerifySet): Promise<AccountVerdict> {
  const { account, name, target, isDeep } = set;
  const plan = await target.planOf(account);
  const nothing = { account, name, records: 0, total: null, stored: null, code: null, differing: [] };
  if (plan === null)
    return { ...nothing, parcels: { committed: 0, of: 0 }, verdict: 'not whole', why: whyUnplanned };
  const ledger = await ledgerOf(plan, target.verdicts(account));
  const { verdicts, missing, isTorn } = ledger;
  const committed = verdicts.filter((verdict) => verdict !== null);
  const stored = await target.count(account, plan.from, plan.to);
  const known = {
    ...nothing,
    parcels: { committed: committed.length, of: plan.parcels.length },
    records: sum(committed.map(({ records }) => records)),
    stored,
  };

  const total = await askServer(set, ledger, (totalOf) => totalOf({ from: plan.from, to: plan.to }));
  if (typeof total === 'object') return { ...known, ...total, verdict: 'unknown' };
  if (isTorn) return { ...known, total, verdict: 'not whole', why: whyTorn };
  if (missing.length > 0) {
    const why = whyMissing(missing, plan.parcels.length);
    return { ...known, total, verdict: 'not whole', why, differing: missing };
  }

  // What a store leaves out is not missing in it. What a sync has brought since is not in the verdicts.
  const held = sum(stored === null ? committed.map(onServer) : [stored, ...committed.map(leftOut)]);
  if (held === total && !isDeep) return { ...known, total, verdict: 'proved', why: null };
  const each = await heldInEach(set, ledger);
  const differing = await askServer(set, ledger, (totalOf) =>
    isDeep ? eachDiffers(ledger, each, totalOf) : findDifferences(ledger, each, total, totalOf),
  );
  if (!Array.isArray(differing)) return { ...known, ...differing, verdict: 'unknown' };
  const damaged = isDeep ? await damagedFiles(set, ledger) : new Map<number, string>();
  const indexes = [...new Set([...differing, ...damaged.keys()])].sort((a, b) => a - b);
  if (held === total && indexes.length === 0) return { ...known, total, verdict: 'proved', why: null };
  const why = whyDiffers({ held, total, differing, damaged });
  return { ...known, total, verdict: 'differs', why, differing: indexes };
}

type TotalOf = (stretch: TimeSlice) => Promise<number>;

/** Asks the server; or says why it could not be asked. */
async function askServer<T extends number | readonly number[]>(
  { filter, signal, reach }: VerifySet,
  { plan: { bounds } }: Ledger,
  work: (totalOf: TotalOf) => Promise<T>,
): Promise<T | { readonly code: string; readonly why: string }> {
  try {
    return await reach((client) => work(serverTotal(client, { filter, bounds, signal })));
  } catch (error) {
    signal?.throwIfAborted();
    if (!CallsError.is(error)) throw error;
    return { code: error.code, why: error.message };
  }
}

/** Records of each parcel that the target has, with those that it leaves out. */
async function heldInEach({ account, target }: VerifySet, { plan, verdicts }: Ledger): Promise<number[]> {
  const held: number[] = [];
  for (const { index, from, to } of plan.parcels) {
    const verdict = verdicts[index];
    const count = await target.count(account, from, to);
    if (verdict) held.push(count === null ? onServer(verdict) : count + leftOut(verdict));
  }
  return held;
}

/** Finds the parcels that differ with few requests. */
function findDifferences(
  { plan }: Ledger,
  held: readonly number[],
  total: number,
  totalOf: TotalOf,
): Promise<number[]> {
  return answer(differences(held, total), ({ begin, end }) =>
    totalOf({ from: plan.parcels[begin]?.from ?? null, to: plan.parcels[end - 1]?.to ?? null }),
  );
}

/** Compares each parcel by a request of its own. */
async function eachDiffers({ plan }: Ledger, held: readonly number[], totalOf: TotalOf): Promise<number[]> {
  const found: number[] = [];
  for (const { index, from, to } of plan.parcels)
    if ((await totalOf({ from, to })) !== held[index]) found.push(index);
  return found;
}

/** Files that are not as they were written, and what is wrong with them. */
async function damagedFiles(
  { account, target, signal }: VerifySet,
  { verdicts }: Ledger,
): Promise<Map<number, string>> {
  const damaged = new Map<number, string>();
  for (const verdict of verdicts) {
    signal?.throwIfAborted();
    const wrong = verdict && (await target.inspect(account, verdict));
    if (wrong) damaged.set(verdict.index, wrong);
  }
  return damaged;
}

/** Records of a verdict that the server has and the target has not. */
const leftOut = (verdict: Parameters<typeof onServer>[0]): number => onServer(verdict) - inTarget(verdict);

const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0);
