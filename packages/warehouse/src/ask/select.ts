import { day } from '@call-attribution/core/time';
import {
  type AccountStatus,
  type CallSelection,
  type Period,
  type Plan,
  planSelection,
  type SelectionPlan,
  type Zones,
} from '@call-attribution/questions';
import { WarehouseError } from '../errors.ts';
import type { Session } from '../file/session.ts';
import type { Sql } from '../sql/tree.ts';
import { accountStatuses } from './status.ts';
import { type Shift, shiftedTime, shiftsBetween } from './zone-shift.ts';

/** Where the times of a selection are in the database. */
export interface Times {
  /** The time of a call as SQL, in the zone of the answer. */
  readonly time: Sql;
  /** Most that a time is moved by the zone of the answer, in milliseconds. */
  readonly mostShift: number;
}

/** A selection as the database has it. */
export type StoredSelection = SelectionPlan & Times;

/** A question as the database has it. */
export type StoredPlan = Plan & Times;

/** Reads a selection, checks its accounts, and looks at what the database needs to know of it. */
export async function readSelection(selection: CallSelection, session: Session): Promise<StoredSelection> {
  const plan = planSelection(selection);
  if (plan.accounts !== null) checkAccounts(plan.accounts, await accountStatuses(session));
  return locate(plan, session);
}

/** Finds the times of a plan. */
export async function locate<P extends SelectionPlan>(plan: P, session: Session): Promise<P & Times> {
  const shifts = await shiftsOf(plan.zones, plan.period, session);
  const time = shiftedTime(shifts);
  const mostShift = Math.max(0, ...shifts.map(({ millis }) => Math.abs(millis)));
  return { ...plan, time, mostShift };
}

async function shiftsOf(
  { timeZone, inZone }: Zones,
  period: Period,
  session: Session,
): Promise<readonly Shift[]> {
  if (timeZone === null || inZone === null) return [];
  const { first, last } = await session.one(
    'SELECT epoch_ms(min(date_added)) AS first, epoch_ms(max(date_added)) AS last FROM records',
  );
  const ends = [first, last].map((value) => (value === null ? null : Number(value)));
  const low =
    Math.min(period.from ?? Number.POSITIVE_INFINITY, ends[0] ?? Number.POSITIVE_INFINITY) - 2 * day;
  const high = Math.max(period.to ?? Number.NEGATIVE_INFINITY, ends[1] ?? Number.NEGATIVE_INFINITY) + 2 * day;
  return Number.isFinite(low) && Number.isFinite(high) ? shiftsBetween(timeZone, inZone, low, high) : [];
}

/** Refuses accounts that the warehouse does not have. */
export function checkAccounts(accounts: readonly string[] | null, statuses: readonly AccountStatus[]): void {
  const known = statuses.map(({ account }) => account);
  const unknown = accounts?.find((account) => !known.includes(account));
  if (unknown === undefined) return;
  throw new WarehouseError(
    'unknown_account',
    `The warehouse has no account ${JSON.stringify(unknown)}. ${
      known.length === 0
        ? 'It is empty: sync or load calls first.'
        : `Its accounts: ${known.slice(0, 10).join(', ')}.`
    }`,
  );
}
