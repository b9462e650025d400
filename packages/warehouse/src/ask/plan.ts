import { WarehouseError } from '../errors.ts';
import type { Condition, Term, Vocabulary } from '../where/condition.ts';
import type { Parameters } from '../where/sql.ts';
import type { AnswerColumn } from './answer.ts';
import { measureSpecs } from './measures.ts';
import type { ClosedPeriod, Period } from './period.ts';
import type { CallSelection } from './question.ts';
import type { Order, ReadMeasure } from './resolve.ts';
import type { Spend } from './spend.ts';
import type { QuestionField } from './vocabulary.ts';

/** Which calls a question is about, with all names and times read. */
export interface SelectionPlan {
  /** The time of a call as SQL, in the zone of the answer. */
  readonly time: string;
  /** Most that a time is moved by the zone of the answer, in milliseconds. */
  readonly mostShift: number;
  readonly period: Period;
  readonly accounts: readonly string[] | null;
  readonly calls: NonNullable<CallSelection['calls']>;
  readonly conditions: readonly { readonly condition: Condition; readonly vocabulary: Vocabulary }[];
}

/** A question in which all names and times have been read. */
export interface Plan extends SelectionPlan {
  readonly groups: readonly QuestionField[];
  readonly measures: readonly ReadMeasure[];
  readonly compared: ClosedPeriod | null;
  /** The worth of a call as SQL, for the measure `value`. */
  readonly worth: ((parameters: Parameters) => string) | null;
  readonly spend: Spend | null;
  readonly having: Condition | null;
  readonly order: readonly Order[];
  readonly limit: number;
  readonly topPer: number | null;
  /** The largest number of a caller, where callers are counted in a bitmap for each group. */
  readonly bitmap: number | null;
}

/** A measured column of an answer: `cell` is its name in the statement. */
export interface Cell {
  readonly cell: string;
  readonly column: AnswerColumn;
  readonly number: Term['number'] | 'time';
}

const spendMeaning =
  'What was spent. The total is all of it, also for groups that are not shown or have no call.';
const costMeaning = 'What was spent, per call. The total divides all of it by all calls that are counted.';

/** The measured columns of an answer, in order. */
export function cellsOf({
  measures,
  compared,
  spend,
}: Pick<Plan, 'measures' | 'compared' | 'spend'>): Cell[] {
  const cells = measures.flatMap(({ column: name, name: measure, of }, i): Cell[] => {
    const spec = measure === 'distinct' ? null : measureSpecs[measure];
    const meaning = spec?.meaning ?? `Number of different values of ${of?.name}.`;
    const unit = spec?.unit ?? 'count';
    const number = spec?.number ?? 'whole';
    const own: Cell = { cell: `m${i}`, column: { name, kind: 'measure', unit, meaning }, number };
    if (compared === null) return [own];
    const before = `${meaning.replace(/\.$/, '')}, in the period compared with.`;
    const change = `Difference of ${name} and ${name}_before.`;
    return [
      own,
      {
        cell: `m${i}_before`,
        column: { name: `${name}_before`, kind: 'before', unit, meaning: before },
        number,
      },
      ...(number === 'time'
        ? []
        : [
            {
              cell: `m${i}_change`,
              column: { name: `${name}_change`, kind: 'change', unit, meaning: change },
              number,
            } as const,
          ]),
    ];
  });
  if (spend === null) return cells;
  const money = { kind: 'measure', unit: 'money' } as const;
  return [
    ...cells,
    { cell: 'spend', column: { name: 'spend', ...money, meaning: spendMeaning }, number: 'float' },
    {
      cell: 'cost_per_call',
      column: { name: 'cost_per_call', ...money, meaning: costMeaning },
      number: 'float',
    },
  ];
}

/** The names of all columns of an answer. Rows are objects, so no two may be the same. */
export function columnNames(groups: readonly QuestionField[], cells: readonly Cell[]): string[] {
  const twice = groups.find(({ name }) => cells.some(({ column }) => column.name === name))?.name;
  if (twice !== undefined) {
    throw new WarehouseError(
      'invalid_question',
      `groupBy and a measure both give a column ${twice}. Group by ${twice} and measure calls, or measure ${twice} and group by another field.`,
    );
  }
  return [...groups.map(({ name }) => name), ...cells.map(({ column }) => column.name)];
}

/** The columns of an answer as terms of `having`. */
export function havingTerms(cells: readonly Cell[]): Vocabulary {
  return new Map(
    cells.flatMap(({ cell, column: { name }, number }): [string, Term][] =>
      number === 'time' || number === undefined ? [] : [[name, { name, type: 'number', sql: cell, number }]],
    ),
  );
}
