import type { LaneValue } from '../lanes/values.ts';
import { type AccountProof, fitsServer } from '../proof/prove-account.ts';

/** Why an account is set aside. */
export interface Reason {
  readonly code: 'parcels_aside' | 'total_moves' | 'target_differs' | 'parcels_missing';
  readonly message: string;
}

/** Parcels of it were set aside. */
export function whyAside(aside: LaneValue['aside'], of: number): Reason {
  const codes = new Map<string, number[]>();
  for (const [index, code] of aside) codes.set(code, [...(codes.get(code) ?? []), index]);
  const list = [...codes].map(([code, indexes]) => `${code}: ${indexList(indexes)}`).join('; ');
  return {
    code: 'parcels_aside',
    message: `${aside.length} of ${of} parcels were set aside (${list}).`.slice(0, 300),
  };
}

/** Its sums were still not equal after all rounds. */
export function whyNotProved(proof: AccountProof, rounds: number): Reason {
  const { records, skipped, total, stored, leftOut, parcels } = proof;
  const after = `after ${rounds} rounds`;
  if (!fitsServer(proof) || parcels.length === 0)
    return {
      code: 'total_moves',
      message: `The total of the server moves: ${after} it counts ${number(total)}, and ${number(records + skipped)} were read (parcels ${indexList(parcels)}).`,
    };
  if (stored !== null && stored !== records - leftOut)
    return {
      code: 'target_differs',
      message: `The target has ${number(stored)} records ${after}, but ${number(records - leftOut)} were committed (parcels ${indexList(parcels)}): others write to it, or records of it were deleted on the server.`,
    };
  return {
    code: 'parcels_missing',
    message: `${parcels.length} parcels have no verdict ${after}, although they were read (${indexList(parcels)}): the target loses what is committed.`,
  };
}

/** The first few of them. */
export const indexList = (indexes: readonly number[]): string =>
  indexes.length > 12
    ? `${indexes.slice(0, 12).join(', ')} and ${indexes.length - 12} more`
    : indexes.join(', ');

/** A number with its thousands set apart. */
export const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
