import type { LaneValue } from '../lanes/values.ts';
import { type AccountProof, fitsServer } from '../proof/prove-account.ts';

/** Why an account is set aside. */
export interface Reason {
  readonly code: 'plan_lost' | 'parcels_aside' | 'total_moves' | 'target_differs' | 'parcels_missing';
  readonly message: string;
}

/** Without its plan nobody knows what an account should have. */
export const whyNoPlan: Reason = {
  code: 'plan_lost',
  message:
    'The target has no plan of it, although the board says that it was planned. Restore the target, or plan a job of another name.',
};

/** Somebody has changed its plan. */
export const whyTorn: Reason = {
  code: 'plan_lost',
  message:
    'Its plan in the target has a gap, so nothing proves its records whole. Restore the target, or plan a job of another name.',
};

/** Parcels of it were set aside. */
export function whyAside(aside: LaneValue['aside'], of: number): Reason {
  const codes = new Map<string, number[]>();
  for (const [index, code] of aside) codes.set(code, [...(codes.get(code) ?? []), index]);
  const list = [...codes].map(([code, indexes]) => `${code}: ${indexList(indexes)}`).join('; ');
  return {
    code: 'parcels_aside',
    message: `${aside.length} of ${of} parcels were set aside (${list}).`,
  };
}

/** Its sums were still not equal after all rounds. */
export function whyNotProved(proof: AccountProof, missing: readonly number[], rounds: number): Reason {
  const { records, skipped, total, stored, leftOut, parcels } = proof;
  const after = `after ${rounds} rounds`;
  if (missing.length > 0)
    return {
      code: 'parcels_missing',
      message: `A verdict is missing for parcels ${indexList(missing)} ${after}, although they were read: the target loses what is committed.`,
    };
  if (!fitsServer(proof) || stored === null)
    return {
      code: 'total_moves',
      message: `The total of the server moves: ${after} it counts ${number(total)}, and ${number(records + skipped)} were read (parcels ${indexList(parcels)}).`,
    };
  return {
    code: 'target_differs',
    message: `The target has ${number(stored)} records ${after}, but ${number(records - leftOut)} were committed (parcels ${indexList(parcels)}): others write to it.`,
  };
}

/** The first few of them. */
export const indexList = (indexes: readonly number[]): string =>
  indexes.length > 12
    ? `${indexes.slice(0, 12).join(', ')} and ${indexes.length - 12} more`
    : indexes.join(', ');

/** A number with its thousands set apart. */
export const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
