import { nearest } from '@call-attribution/query-dsl';
import type { Condition, Test, Vocabulary } from '../conditions/condition.ts';
import { ambiguousNames, nameOf, wordList } from '../conditions/condition.ts';
import { type Definitions, withDefinitions } from '../conditions/definitions.ts';

import { withJudged } from '../conditions/judged.ts';
import {
  type ConditionProblem,
  type ConditionResult,
  readCondition,
  withHidden,
} from '../conditions/parse.ts';

import { absentSentence, explainUnknown } from '../conditions/unknown-name.ts';

import { leavesWithoutValue } from '../conditions/without-value.ts';
import { option, QuestionError, refuse, sentence } from '../errors.ts';
import type { ReadField } from '../fields/derived.ts';
import { allFields } from '../fields/vocabulary.ts';
import type { Argument, CountedMeasure, Part } from './measures.ts';
import {
  measures as allMeasures,
  holds,
  measureAliases,
  measureForms,
  outcomeMeasures,
  spendMeasures,
  spentPart,
} from './measures.ts';

const meantOr = (meant: string | undefined, otherwise: string): string =>
  meant === undefined ? otherwise : `Did you mean ${meant}?`;

/** A field by a name that somebody wrote: any that the vocabulary knows. */
export function readField(written: string, what: string): ReadField {
  const name = nameOf(String(written));
  const field = allFields.get(name);
  if (field !== undefined) return field;
  const meanings = ambiguousNames.get(name);
  const { said, meant } = explainUnknown(name, [...allFields.keys()]);
  const some = meantOr(meant, said);
  throw new QuestionError(
    'unknown_name',
    meanings === undefined
      ? `There is no field ${JSON.stringify(written)} to ${what}. ${some}`
      : `${JSON.stringify(written)} to ${what} may mean ${wordList(meanings)}. Name one of them.`,
  );
}

/**
 * A measure with what stands in its brackets, and the places of its parts among those of the
 * question.
 */
export interface PlannedMeasure extends Omit<CountedMeasure, 'parts' | 'hasBase'> {
  /** Its column in the answer. */
  readonly column: string;
  /** The parts it is made of, by their place. */
  readonly parts: readonly number[];
  /** It is made of what was spent. */
  readonly isOfSpend: boolean;
  /** The place of the part that counts the calls it can take into account. */
  readonly counted: number | null;
  /** The place of the part that counts the calls it is a part of, where these are not all calls. */
  readonly base: number | undefined;
  /**
   * Of a measure with a condition that leaves out calls without a value: their fields, and the place
   * of the part that counts these calls in.
   */
  readonly lenient: { readonly fields: readonly string[]; readonly part: number } | null;
}

/**
 * A measure, which may be one of a field, a condition or a number of hours. `placeOf` gives each
 * part its place. Measures of what calls became are known where outcomes are.
 */
export function readMeasure(
  text: string,
  words: Vocabulary,
  placeOf: (part: Part) => number,
  hasOutcomes: boolean,
): PlannedMeasure {
  const [, body = text.trim(), as] = /^\s*(.*\S)\s+as\s+([a-z_]\w*)\s*$/is.exec(text) ?? [];
  const [, called = nameOf(body), inside] = /^([a-z_]\w*)\s*\(\s*(.*?)\s*\)$/is.exec(body) ?? [];
  const own = measureAliases.get(called.toLowerCase()) ?? called.toLowerCase();
  const known = [...allMeasures, ...spendMeasures, ...(hasOutcomes ? outcomeMeasures : [])];
  const measure = known.find(
    ({ name, argument }) => name === own && (argument === undefined) === (inside === undefined),
  );
  if (measure === undefined) {
    const isOfOutcomes = outcomeMeasures.some(({ name }) => name === own);
    if (isOfOutcomes && !hasOutcomes)
      throw refuse`${body} is measured of what calls became later: give ${option('outcomes')}.`;
    const names = [...new Set(allMeasures.map(({ name }) => name))];
    const ofCalls = called.replace(/^(?:total|number_of)_|_calls$/gi, '');
    const meant = nearest(called, names) ?? nearest(ofCalls, names);
    const others = meantOr(meant, `Measures: ${measureForms.join(', ')}.`);
    const more = absentSentence(called) ?? others;
    throw new QuestionError('unknown_name', `There is no measure ${JSON.stringify(body)}. ${more}`);
  }

  const { name, unit, meaning } = measure;
  const condition: Condition = { kind: 'and', parts: [] };
  const argument: Argument = { field: '', scale: measure.scale, condition, hours: 0 };
  let column = name;
  let about = inside ?? '';
  if (measure.argument === 'condition') {
    argument.condition = readWhere(about, words, body);
    column = body;
  } else if (measure.argument === 'hours') {
    if (!/^\d{1,5}(?:\.\d{1,3})?$/.test(about))
      throw refuse`${body}: expected a number of hours, such as ${name}(24).`;
    argument.hours = Number(about);
    column = `${name}_${about}`;
  } else if (measure.argument !== undefined) {
    const field = readField(about, 'measure');
    if (measure.argument === 'number' && !isQuantity(field)) {
      const numbers = [...new Set(allFields.values())].filter(isQuantity).map((each) => each.name);
      throw refuse`${body}: ${field.name} is not a number to measure. Numbers: ${numbers.join(', ')}.`;
    }
    argument.field = field.name;
    argument.scale = field.scale;
    about = field.name;
    column = `${name}_${about}`;
  }

  const counted = measure.parts(argument);
  const parts = counted.map(placeOf);
  const leaves = measure.argument === 'condition' ? leavesWithoutValue(argument.condition) : null;
  if (as !== undefined) column = as.toLowerCase();

  // Rows are objects: a column of this name would be lost, or found where there is none.
  if (column in {})
    throw refuse`A column cannot be called ${column}: every object in JavaScript has it. Choose another name.`;
  return {
    ...measure,
    column,
    scale: argument.scale,
    unit: unit === 'number' && argument.field.endsWith('_minutes') ? 'minutes' : unit,
    meaning: meaning.replaceAll('{}', () => about),
    parts,
    base: measure.hasBase ? parts[1] : undefined,
    counted: measure.leaves === undefined ? null : placeOf(measure.leaves.counted),
    isOfSpend: counted.includes(spentPart),
    lenient: leaves && { fields: leaves.fields, part: placeOf(holds(leaves.lenient)) },
  };
}

/** Is a field a number, and no id? */
const isQuantity = ({ name, type }: ReadField): boolean =>
  type === 'number' && !name.endsWith('_id');

/**
 * Reads a condition without asking anything: for editors, and for programs that change a condition
 * before they pass it on.
 *
 * @example
 * const result = parseCondition("talk_minutes >= 2 AND state IN ('TX', 'CA')");
 * if (!result.ok) console.log(result.problem.message, result.problem.corrected);
 */
export const parseCondition = (text: string, definitions?: Definitions): ConditionResult =>
  readCondition(text, wordsWith(definitions));

/**
 * A condition to be shown to people who must not see everything: what it compares with fields of
 * which `isShown` is not true is written as `…`.
 *
 * @example
 * withoutValues("lead AND ani = '3035550100'", (field) => field !== 'ani'); // lead AND ani = …
 */
export const withoutValues = (text: string, isShown: (field: string) => boolean): string =>
  withHidden(text, (name) => {
    const field = allFields.get(name)?.name;
    return field !== undefined && isShown(field);
  });

/** A condition. `name` is the option it came from. */
export function readWhere(where: string, vocabulary: Vocabulary, name: string): Condition {
  const result = readCondition(String(where), vocabulary);
  if (result.ok) return result.condition;
  throw new InvalidCondition(name, result.problem);
}

/**
 * The words of conditions: all fields, and definitions. They are read once for each object of
 * definitions, which questions about the same calls share.
 */
export function wordsWith(definitions: Definitions | undefined): Vocabulary {
  if (definitions === undefined) return allFields;
  const known = wordsOf.get(definitions);
  if (known !== undefined) return known;
  const words = withDefinitions(definitions, { fields: allFields, taken, read: readWhere });
  wordsOf.set(definitions, words);
  return words;
}

const wordsOf = new WeakMap<Definitions, Vocabulary>();

/**
 * Definitions for calls that are masked before they are kept: their tests of fields of which
 * `isMasked` is true are judged before that, by `maskedTruths`, and what they said is kept with the call.
 * What depends on the other calls of a caller is judged of masked calls all the same.
 *
 * @example
 * const { definitions, tests } = judgedEarly({ office: "ani = '3035550100'" }, () => true);
 */
export function judgedEarly(
  definitions: Definitions,
  isMasked: (field: string) => boolean,
): { readonly definitions: Definitions; readonly tests: readonly Test[] } {
  const words = new Map(wordsWith(definitions));
  const tests: Test[] = [];
  const ids: string[] = [];

  const placeOf = (test: Test): number | null => {
    const { needs = [], otherCalls } = allFields.get(test.field) ?? {};
    if (otherCalls !== 'none' || !needs.some(isMasked)) return null;
    const id = JSON.stringify(test);
    if (!ids.includes(id)) {
      ids.push(id);
      tests.push(test);
    }
    return ids.indexOf(id);
  };

  for (const [name, term] of words)
    if (term.condition !== undefined)
      words.set(name, { ...term, condition: withJudged(term.condition, placeOf) });
  const own = { ...definitions };
  wordsOf.set(own, words);
  return { definitions: own, tests };
}

/** Names that no definition may have, since reports and conditions have them already. */
const taken: ReadonlyMap<string, string> = new Map([
  ...allMeasures.map(({ name }) => [name, 'a measure'] as const),
  ...[...spendMeasures, ...outcomeMeasures].map(
    ({ name }) => [name, 'a column of reports'] as const,
  ),
  ['cost', 'a column of reports'],
]);

/** A condition that cannot be read. */
export class InvalidCondition extends QuestionError {
  /** Always `invalid_condition`. */
  declare readonly code: 'invalid_condition';
  /** What is wrong, where, and the corrected condition when there is one. */
  readonly problem: ConditionProblem;
  /** The option that has it, such as `where`, or `count(` and so on for a measure. */
  readonly argument: string;

  constructor(argument: string, problem: ConditionProblem) {
    const { message, corrected, frame } = problem;
    super('invalid_condition', sentence`${option(argument)}: ${message}`, {
      hint: corrected === undefined ? frame : `${frame}\nCorrected: ${corrected}`,
    });
    this.problem = problem;
    this.argument = argument;
  }
}

/** The parts of an order as they are written, each with its direction. */
export const orderParts = (order: string) =>
  splitList(order).map((part) => {
    const [, written = '', direction = ''] = /^\s*(.*?\S)(?:\s+(asc|desc))?\s*$/is.exec(part) ?? [];
    return { written, descending: /desc/i.test(direction) };
  });

/** Columns to sort an answer by. */
export interface Order {
  /** The column of the answer. */
  readonly column: string;
  /** Begins with the largest. */
  readonly descending: boolean;
}

/**
 * Reads `order`, such as `calls desc, ppc_campaign`. `columns` belong to `what`; those of fields
 * may have any name of the field.
 */
export function readOrder(order: string, columns: readonly string[], what: string): Order[] {
  return orderParts(order).map(({ written, descending }) => {
    const name = nameOf(written);
    const [, called = '', argument = ''] = /^(\w+)\s*\(\s*(.*?)\s*\)$/.exec(written) ?? [];
    const measured = `${called}_${allFields.get(nameOf(argument))?.name ?? argument}`;
    const names = [written, name, allFields.get(name)?.name, measureAliases.get(name), measured];
    const column = names.find((each) => each !== undefined && columns.includes(each));
    if (column !== undefined) return { column, descending };
    const others = meantOr(
      nearest(written, columns),
      `Its columns: ${columns.slice(0, 20).join(', ')}.`,
    );
    throw new QuestionError(
      'unknown_name',
      sentence`${option('order')}: ${what} has no column ${JSON.stringify(written)}. ${others} A column may have asc or desc after it.`,
    );
  });
}

/** The parts of a list between commas that are in no brackets and no string. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  let isText = false;
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i];
    if (character === "'") isText = !isText;
    if (isText) continue;
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character !== ',' || depth > 0) continue;
    parts.push(text.slice(start, i));
    start = i + 1;
  }

  return [...parts, text.slice(start)];
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `InvalidCondition` of questions. */
    InvalidCondition: InvalidCondition;
  }
}
