import type { TimeSlice } from '@call-attribution/node-stream';
import { answer, differences, type IndexRange } from './differences.ts';
import { inTarget, type Ledger, onServer } from './ledger.ts';

/** Who is asked how many records a stretch has. */
export interface Counters {
  /** The server. */
  total(stretch: TimeSlice): Promise<number>;
  /** The target; null when only its verdicts know. */
  count(stretch: TimeSlice): Promise<number | null>;
}

/** How many records there are, by each of those who know. */
export interface Sums {
  /** Records by the ledger. */
  readonly records: number;
  /** Records that could not be parsed, and those that the store leaves out because their callers were erased. */
  readonly skipped: number;
  readonly leftOut: number;
  /** Records by the server. */
  readonly total: number;
  /** Records in the target; null when only the verdicts know. */
  readonly stored: number | null;
}

/** What the comparison of a ledger with the server and the target found. */
export interface AccountProof extends Sums {
  /** The ledger has all of the plan, and server and target have as many records as it says. */
  readonly isProved: boolean;
  /** Parcels to read again, in order: those without a verdict, or else those whose numbers differ. */
  readonly parcels: readonly number[];
}

/** Has the server as many records as the ledger says? */
export const fitsServer = ({ records, skipped, total }: Sums): boolean => records + skipped === total;

/** Has the target? */
const fitsTarget = ({ records, leftOut, stored }: Sums): boolean =>
  stored === null || stored === records - leftOut;

/** Asks for one fresh total of the server for the whole plan, and for the count of the target. */
async function sumsOf({ plan, verdicts }: Ledger, { total, count }: Counters): Promise<Sums> {
  const whole = { from: plan.from, to: plan.to };
  const sums = { records: 0, skipped: 0, leftOut: 0 };
  for (const verdict of verdicts) {
    sums.records += verdict?.records ?? 0;
    sums.skipped += verdict?.skipped ?? 0;
    sums.leftOut += verdict?.leftOut ?? 0;
  }
  return { ...sums, total: await total(whole), stored: await count(whole) };
}

/**
 * Compares the sum of a ledger with the total of the server, and with the count of the target. Where they differ, further totals
 * find out in which parcels.
 */
export async function proveAccount(ledger: Ledger, counters: Counters): Promise<AccountProof> {
  const sums = await sumsOf(ledger, counters);
  if (ledger.missing.length > 0) return { ...sums, isProved: false, parcels: ledger.missing };
  const isProved = fitsServer(sums) && fitsTarget(sums);
  return { ...sums, isProved, parcels: isProved ? [] : await differingParcels(ledger, sums, counters) };
}

/** Finds the parcels of a ledger that is whole in which server or target have other numbers. */
async function differingParcels(
  { plan, verdicts }: Ledger,
  sums: Sums,
  { total, count }: Counters,
): Promise<number[]> {
  const known = verdicts.filter((verdict) => verdict !== null);
  const stretch = ({ begin, end }: IndexRange): TimeSlice => ({
    from: plan.parcels[begin]?.from ?? null,
    to: plan.parcels[end - 1]?.to ?? null,
  });
  const onServerNow = (places: IndexRange) => total(stretch(places));
  const inTargetNow = async (places: IndexRange) => (await count(stretch(places))) ?? 0;
  const found = new Set([
    ...(await answer(differences(known.map(onServer), sums.total), onServerNow)),
    ...(sums.stored === null ? [] : await answer(differences(known.map(inTarget), sums.stored), inTargetNow)),
  ]);
  return [...found].sort((a, b) => a - b);
}
