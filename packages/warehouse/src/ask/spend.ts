import { WarehouseError } from '../errors.ts';
import type { Parameters } from '../where/sql.ts';
import { groupKey, keyType, shownAs } from './groups.ts';
import type { Question } from './question.ts';
import type { QuestionField } from './vocabulary.ts';

/** What was spent on each value of the only group. */
export interface Spend {
  /** The type that keys of the group are compared as. */
  readonly type: ReturnType<typeof keyType>;
  readonly entries: readonly {
    /** The value of the group as an answer shows it. */
    readonly name: string;
    readonly key: string | number | boolean;
    readonly amount: number;
  }[];
}

/** Reads `spend`: finds the group that each name stands for. Buckets of time are counted from `start`. */
export function readSpend(
  spend: NonNullable<Question['spend']>,
  groups: readonly QuestionField[],
  start: number,
): Spend {
  const [group] = groups;
  if (group === undefined || groups.length > 1) {
    throw new WarehouseError(
      'invalid_question',
      'spend goes with one group: the spend of each of its values is given.',
    );
  }
  const entries = Object.entries(spend).map(([name, amount]) => {
    const key = groupKey(group, name, start);
    if (key !== null) return { name, key, amount };
    throw new WarehouseError(
      'invalid_question',
      `spend names ${JSON.stringify(name.slice(0, 60))}, which no group by ${group.name} is called. Write it as an answer shows it: ${shownAs(group)}.`,
    );
  });
  return { type: keyType(group), entries };
}

/** What was spent as a table with the columns `name`, `key` and `amount`. */
export function spendTable({ type, entries }: Spend, parameters: Parameters): string {
  const columns = JSON.stringify([{ name: 'VARCHAR', key: type, amount: 'DOUBLE' }]);
  return `(SELECT unnest(from_json(${parameters.put(JSON.stringify(entries))}, '${columns}'), recursive := true))`;
}

/** All that was spent, whether or not it brought a call. */
export const spendTotal = ({ entries }: Spend): number =>
  entries.reduce((sum, { amount }) => sum + amount, 0);
