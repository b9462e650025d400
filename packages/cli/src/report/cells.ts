import type { FieldType } from '@call-attribution/core';
import { fields } from '@call-attribution/core/record';
import type { Filter } from '@call-attribution/query-dsl';
import type { AnswerValue } from '@call-attribution/questions';
import { UsageError } from '../errors.ts';
import { timesOf } from '../reading/copy-source.ts';
import type { WarehouseSource } from '../reading/warehouse-copy.ts';
import { count } from '../term/numbers.ts';
import { type Dimension, none } from './dimensions.ts';
import { type Cell, layoutOf } from './tally.ts';

/** Most pairs of groups that a report has, so that it fits into memory. */
const mostGroups = 200_000;

/** What a warehouse counts for a report, and the sentence that says how fresh it is. */
export async function cellsOf(
  source: WarehouseSource,
  dimensions: readonly Dimension[],
  filter: Filter,
  signal: AbortSignal,
): Promise<{ readonly cells: readonly Cell[]; readonly answered: string }> {
  const { rows, across } = layoutOf(dimensions);
  const counted = dimensions.filter(({ account }) => account === undefined);
  const answer = await source.copy.warehouse.analyze({
    ...source.copy.selection(filter),
    groupBy: counted.map(({ field }) => field),
    measures: ['calls', 'talk_sum'],
    order: 'calls desc',
    limit: mostGroups,
    // As the report of the API does. A page, which is passed on, is refused before.
    personal: 'show',
    timeLimit: source.copy.timeLimit,
    signal,
  });
  const names = groupNames(counted, answer.columns);
  const key = (dimension: Dimension, row: Readonly<Record<string, AnswerValue>>): string =>
    dimension.account ?? keyOf(dimension, row[names.get(dimension) ?? ''] ?? null);
  // The warehouse adds rows for days without calls; the report fills them in itself, as it does for the API.
  const cells = answer.rows
    .filter(({ calls }) => calls !== 0)
    .map(
      (row): Cell => ({
        row: key(rows, row),
        column: across ? key(across, row) : '',
        calls: Number(row.calls),
        minutes: Number(row.talk_sum),
      }),
    );
  if (cells.reduce((sum, { calls }) => sum + calls, 0) < answer.calls) {
    throw new UsageError(
      `--by ${dimensions.map(({ name }) => name).join(',')} gives more than ${count(mostGroups)} groups, which is the limit of a report`,
      {
        hints: [
          'group by fewer fields, or choose a shorter time with --from and --to',
          'calls sql has no limit',
        ],
      },
    );
  }
  return { cells, answered: await source.sayAnswered(answer.accounts, timesOf(filter)) };
}

/** The columns of the groups, which come in the order of the question. */
function groupNames(
  dimensions: readonly Dimension[],
  columns: readonly { readonly name: string; readonly kind: string }[],
): Map<Dimension, string> {
  const groups = columns.filter(({ kind }) => kind === 'group');
  return new Map(dimensions.map((dimension, at) => [dimension, groups[at]?.name ?? dimension.field]));
}

const types = new Map<string, FieldType>(fields.map(({ name, type }) => [name, type]));

/** The key of a group as a call from the API would have it. */
function keyOf({ field, time }: Dimension, value: AnswerValue): string {
  if (value === null || value === '') return none;
  if (time) return field === 'hour' ? `${String(value).padStart(2, '0')}:00` : String(value);
  const text = String(value);
  switch (types.get(field)) {
    case 'decimal-string':
      return Number(value).toFixed(1);
    case 'datetime':
      return text.slice(0, 19);
    case 'datetime-tenths':
      return text.length === 19 ? `${text}.0` : text.slice(0, 21);
    default:
      return text;
  }
}
