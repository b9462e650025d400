import type { Term, Vocabulary } from '../conditions/condition.ts';
import { QuestionError } from '../errors.ts';
import type { ReadField } from '../fields/derived.ts';
import type { AnswerColumn } from './answer.ts';
import { type Measure, spendColumns } from './measures.ts';

/** A measure with what stands in its brackets, and the places of its parts among those of the question. */
export interface PlannedMeasure extends Omit<Measure, 'parts'> {
  /** Its column in the answer. */
  readonly column: string;
  /** How many steps of its field make 1. */
  readonly scale: number;
  /** The parts it is made of, by their place. */
  readonly parts: readonly number[];
  /** The place of the part that counts the calls it can take into account. */
  readonly counted: number | null;
}

/** The columns of an answer. Rows are objects, so no two may have one name. */
export function columnsOf(
  groups: readonly ReadField[],
  measures: readonly PlannedMeasure[],
  compared: 'no' | 'plain' | 'per_day',
  hasSpend: boolean,
): AnswerColumn[] {
  const columns = [
    ...groups.map(
      ({ name, meaning, isTime }): AnswerColumn => ({
        name,
        kind: 'group',
        unit: isTime ? 'time' : 'value',
        meaning,
        better: null,
        addsUp: false,
      }),
    ),
    ...measures.flatMap((measure) => measured(measure, compared)),
    ...(hasSpend ? spendColumns : []),
  ];
  const twice = columns.find(({ name }, i) => columns.findIndex((other) => other.name === name) !== i)?.name;
  if (twice !== undefined) {
    const isOwn = measures.some(({ column, name }) => column === twice && name === twice);
    throw new QuestionError(
      'invalid_question',
      `Two columns are called ${twice}. Name the measure with as, such as "${isOwn ? twice : 'calls'} as how_many", or group by another field.`,
    );
  }
  return columns;
}

function measured(measure: PlannedMeasure, compared: 'no' | 'plain' | 'per_day'): AnswerColumn[] {
  const { column: name, meaning, unit, better, addsUp } = measure;
  const own: AnswerColumn = { name, kind: 'measure', unit, meaning, better, addsUp };
  if (compared === 'no') return [own];
  const before = `${meaning.replace(/\.$/, '')}, in the period compared with.`;
  const columns: AnswerColumn[] = [own, { ...own, name: `${name}_before`, kind: 'before', meaning: before }];
  if (measure.number === 'time') return columns;
  const change: AnswerColumn = {
    ...own,
    name: `${name}_change`,
    kind: 'change',
    meaning: `Difference of ${name} and ${name}_before.`,
  };
  if (compared === 'plain' || !growsWithTime(measure)) return [...columns, change];
  const perDay = `Difference of ${name} and ${name}_before, each by the days of its period.`;
  return [...columns, { ...change, unit: unit === 'minutes' ? unit : 'number', meaning: perDay }];
}

/** Is there more of a measure in a longer period? */
export const growsWithTime = ({ addsUp, unit }: Pick<Measure, 'addsUp' | 'unit'>): boolean =>
  addsUp && unit !== 'share';

/** The columns of an answer as terms of `having`. */
export function havingTerms(
  columns: readonly AnswerColumn[],
  measures: readonly PlannedMeasure[],
): Vocabulary {
  const numbers = new Map(
    measures.flatMap(({ column, number }) =>
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
