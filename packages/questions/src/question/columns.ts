import type { Term, Vocabulary } from '../conditions/condition.ts';
import { QuestionError } from '../errors.ts';
import type { QuestionField } from '../fields/vocabulary.ts';
import type { AnswerColumn } from './answer.ts';
import { type MeasureName, type MeasureSpec, measureSpecs } from './measures.ts';

/** A measure with the places of its parts among those of the question. */
export interface PlannedMeasure {
  /** Its column in the answer. */
  readonly column: string;
  /** What it is. */
  readonly spec: MeasureSpec;
  /** The parts it is made of, by their place. */
  readonly parts: readonly number[];
  /** The place of the part that counts the calls it can take into account. */
  readonly counted: number | null;
}

const money = { kind: 'measure', unit: 'money' } as const;
const spendColumns: readonly AnswerColumn[] = [
  {
    name: 'spend',
    ...money,
    meaning:
      'What was spent. The total is that of the groups with calls or spend that are found, shown or not.',
  },
  {
    name: 'cost_per_call',
    ...money,
    meaning: 'What was spent, per call. The total counts only the calls of groups with spend.',
  },
];

/** The columns of an answer. Rows are objects, so no two may have one name. */
export function columnsOf(
  groups: readonly QuestionField[],
  measures: readonly PlannedMeasure[],
  isCompared: boolean,
  hasSpend: boolean,
): AnswerColumn[] {
  const columns = [
    ...groups.map(
      ({ name, meaning, isTime }): AnswerColumn => ({
        name,
        kind: 'group',
        unit: isTime ? 'time' : 'value',
        meaning,
      }),
    ),
    ...measures.flatMap((measure) => measured(measure, isCompared)),
    ...(hasSpend ? spendColumns : []),
  ];
  const twice = columns.find(({ name }, i) => columns.findIndex((other) => other.name === name) !== i)?.name;
  if (twice !== undefined) {
    const isOwn =
      Object.hasOwn(measureSpecs, twice) &&
      measures.some(({ spec }) => spec === measureSpecs[twice as MeasureName]);
    throw new QuestionError(
      'invalid_question',
      `Two columns are called ${twice}. Name the measure with as, such as "${isOwn ? twice : 'calls'} as how_many", or group by another field.`,
    );
  }
  return columns;
}

function measured({ column: name, spec }: PlannedMeasure, isCompared: boolean): AnswerColumn[] {
  const { meaning, unit } = spec;
  const own: AnswerColumn = { name, kind: 'measure', unit, meaning };
  if (!isCompared) return [own];
  const before = `${meaning.replace(/\.$/, '')}, in the period compared with.`;
  const change = `Difference of ${name} and ${name}_before.`;
  return [
    own,
    { name: `${name}_before`, kind: 'before', unit, meaning: before },
    ...(spec.number === 'time'
      ? []
      : [{ name: `${name}_change`, kind: 'change', unit, meaning: change } as const]),
  ];
}

/** The columns of an answer as terms of `having`. */
export function havingTerms(
  columns: readonly AnswerColumn[],
  measures: readonly PlannedMeasure[],
): Vocabulary {
  const numbers = new Map(
    measures.flatMap(({ column, spec: { number } }) =>
      number === 'time'
        ? []
        : [column, `${column}_before`, `${column}_change`].map((name) => [name, number] as const),
    ),
  );
  return new Map(
    columns.flatMap(({ name, kind, unit }): [string, Term][] => {
      if (kind === 'group') return [];
      const number = unit === 'money' ? 'float' : numbers.get(name);
      return number === undefined ? [] : [[name, { name, type: 'number', number }]];
    }),
  );
}
