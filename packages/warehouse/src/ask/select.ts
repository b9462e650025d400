import { day } from '@call-attribution/core/time';
import { WarehouseError } from '../errors.ts';
import type { Session } from '../file/session.ts';
import type { ConditionProblem } from '../where/problem.ts';
import { type Period, readPeriod, readZones, type Zones } from './period.ts';
import type { SelectionPlan } from './plan.ts';
import type { CallSelection } from './question.ts';
import { readFilter, readWhere } from './resolve.ts';
import { type QuestionField, questionFields } from './vocabulary.ts';
import { type Shift, shiftedTime, shiftsBetween } from './zone-shift.ts';

/** A selection that was read, with what its plan does not need. */
export interface ReadSelection {
  readonly plan: SelectionPlan;
  readonly fields: ReadonlyMap<string, QuestionField>;
  readonly zones: Zones;
  /** Names of the accounts and the warnings about conditions. */
  readonly warnings: readonly ConditionProblem[];
  readonly shifts: readonly Shift[];
}

/** Reads everything about a selection that needs no look into the database. */
export async function readSelection(selection: CallSelection, session: Session): Promise<ReadSelection> {
  const zones = readZones(selection);
  const period = readPeriod(selection);
  const shifts = await shiftsOf(zones, period, session);
  const time = shiftedTime(shifts);
  const fields = questionFields(time);
  const filter = selection.q === undefined ? null : readFilter(selection.q);
  const where = selection.where === undefined ? null : readWhere(selection.where, fields, 'where');
  const calls = selection.calls ?? (filter === null || filter.extensions ? 'all' : 'website');
  if (!['all', 'website', 'extensions'].includes(calls)) {
    throw new WarehouseError(
      'invalid_question',
      `calls is ${JSON.stringify(calls)}: expected 'all', 'website' or 'extensions'.`,
    );
  }
  return {
    fields,
    zones,
    shifts,
    warnings: where?.warnings ?? [],
    plan: {
      time,
      mostShift: time === 'date_added' ? 0 : Math.max(...shifts.map(({ millis }) => Math.abs(millis))),
      period,
      accounts: await accountsOf(selection.accounts, session),
      calls,
      conditions: [
        ...(where ? [{ condition: where.condition, vocabulary: fields }] : []),
        // A filter of the API is about the times as they were sent, whatever zone the answer is in.
        ...(filter ? [{ condition: filter.condition, vocabulary: questionFields() }] : []),
      ],
    },
  };
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

async function accountsOf(
  accounts: readonly string[] | undefined,
  session: Session,
): Promise<readonly string[] | null> {
  if (accounts === undefined) return null;
  if (accounts.length === 0) {
    throw new WarehouseError(
      'invalid_question',
      'accounts is empty: name at least one, or leave it out for all.',
    );
  }
  const known = (await session.all('SELECT account FROM accounts ORDER BY account')).map((row) =>
    String(row.account),
  );
  const unknown = accounts.find((account) => !known.includes(account));
  if (unknown === undefined) return accounts;
  throw new WarehouseError(
    'unknown_account',
    `The warehouse has no account ${JSON.stringify(unknown)}. ${
      known.length === 0
        ? 'It is empty: sync or load calls first.'
        : `Its accounts: ${known.slice(0, 10).join(', ')}.`
    }`,
  );
}
