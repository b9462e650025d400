import type { Term, Vocabulary } from '../conditions/condition.ts';
import { fieldsOf, nameOf } from '../conditions/condition.ts';
import type { AnswerColumn } from './answer.ts';
import {
  measures as allMeasures,
  measureAliases,
  outcomeMeasures,
  spendMeasures,
} from './measures.ts';
import { orderParts, type PlannedMeasure, readWhere } from './resolve.ts';

// What a question measures besides what it names: the calls that a rate is of, and the measures that
// its rows are only chosen or ordered by.

/** Reads a measure, and counts what it is made of. */
type Read = (text: string) => PlannedMeasure;

/**
 * The measures that are asked, and behind them what they are counted of: rates, means and shares
 * alone bring their calls, and a measure of certain calls brings these.
 */
export function withBases(
  asked: readonly PlannedMeasure[],
  groups: readonly string[],
  read: Read,
): readonly PlannedMeasure[] {
  const bases = asked.flatMap((measure) => baseOf(measure, read) ?? []);
  const names = [...asked, ...bases].map(({ column }) => column).concat(groups);
  const isOfParts = asked.every(isRatio) && asked.some(({ base }) => base === undefined);
  if (!isOfParts || names.includes('calls')) return [...asked, ...bases];
  return [...asked, ...bases, read('calls')];
}

/** A number that says nothing without the calls it is of: two of three are 0.667, too. */
const isRatio = ({ name, unit, addsUp }: PlannedMeasure): boolean =>
  unit === 'share' || (summed.has(unit) && !addsUp && name !== 'per_day');

/** Units of sums, and of means of them. */
const summed: ReadonlySet<PlannedMeasure['unit']> = new Set(['minutes', 'number', 'money']);

/** The calls that a measure is of, as a measure of its own. */
function baseOf({ base, column }: PlannedMeasure, read: Read): PlannedMeasure | null {
  if (base === undefined) return null;
  return {
    ...read('calls'),
    name: 'base',
    column: `${column}_of`,
    meaning: `Calls that ${column} is a part of.`,
    better: null,
    parts: [base],
  };
}

/** The end of a column of a comparison: what a measure was before, or has changed by. */
const comparedEnd = /_(?:before|change|change_percent|change_per_day)$/;

const namesOf = (some: typeof allMeasures): string[] => some.map(({ name }) => name);
const withoutArgument = namesOf(
  [...allMeasures, ...outcomeMeasures, ...spendMeasures].filter(
    ({ argument }) => argument === undefined,
  ),
);
const takingOne = new Set(
  namesOf([...allMeasures, ...spendMeasures].filter(({ argument }) => argument !== undefined)),
);
const withArgument = new RegExp(
  String.raw`\b(?:${[...takingOne].join('|')})\s*\((?:[^()']|'[^']*'|\([^()]*\))*\)`,
  'gi',
);

/**
 * What the condition on rows may compare: the columns, and all other measures as they are written.
 */
export function termsOf(columns: readonly AnswerColumn[], having: string, read: Read): Vocabulary {
  const terms = new Map<string, Term>();
  const add = (written: string, name: string): void => {
    if (!terms.has(written)) terms.set(written, { name, type: 'number' });
  };

  for (const { name, kind, unit } of columns)
    if (kind !== 'group' && unit !== 'time') add(name, name);
  const times = ['first', 'last'];
  for (const name of withoutArgument) if (!times.includes(name)) add(name, name);
  for (const [other, name] of measureAliases) add(other, name);
  for (const [written] of having.matchAll(withArgument)) {
    const { column } = read(written);
    add(written, column);
    add(nameOf(written), column);
  }

  return terms;
}

/**
 * The measures that rows are only chosen or ordered by: they are counted, and have no columns.
 */
export function unnamedMeasures(
  { having, order }: { readonly having?: string | undefined; readonly order?: string | undefined },
  columns: readonly AnswerColumn[],
  read: Read,
): readonly PlannedMeasure[] {
  const known = new Set(columns.map(({ name }) => name));
  const found = new Map<string, PlannedMeasure>();

  const add = (written: string): void => {
    const measure = read(written);
    if (!known.has(measure.column)) found.set(measure.column, measure);
  };

  if (having !== undefined) {
    const used = fieldsOf(readWhere(having, termsOf(columns, having, read), 'having'));
    const written = [...having.matchAll(withArgument)].map(([text]) => text);
    for (const name of used) if (withoutArgument.includes(name) && !known.has(name)) add(name);
    for (const text of written) add(text);
  }

  if (order !== undefined)
    for (const { written } of orderParts(order)) {
      const called = nameOf(written).replace(comparedEnd, '');
      const own = measureAliases.get(called) ?? called;
      const isOne = withoutArgument.includes(own) && !known.has(nameOf(written));
      if (isOne) add(own);
      else if (new RegExp(`^${withArgument.source}$`, 'i').test(written)) add(written);
    }

  return [...found.values()];
}
