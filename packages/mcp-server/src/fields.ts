import { type FieldSpec, fields, type Version } from '@call-attribution/core';
import { nearest } from '@call-attribution/query-dsl';
import {
  absentSentence,
  type QuestionField,
  questionFields,
  touches,
} from '@call-attribution/questions';
import { measures } from '@call-attribution/questions/measures';
import { hiddenMark, isPseudonym, type MaskedCall, numberForm } from './privacy/mask.ts';
import { cleanText, cutText, fence, quotable } from './privacy/text.ts';
import { didYouMean, invalid } from './text/failures.ts';

// The fields of calls by their names, and their values as agents see them.

const inBothVersions = 'sid date_added talk_minutes ani city state channel rank search_term'.split(
  ' ',
);

/** The fields that `summary` means: what most questions about single calls need. */
const summary: Readonly<Record<Version, readonly string[]>> = {
  v3: [...inBothVersions, 'ppc_campaign', 'ppc_keywords', 'ppc_match_type', 'ppc_status'],
  v2: [...inBothVersions, 'phone_label', 'ppc_campaign_id', 'ppc_keyword_id', 'activity_type_id'],
};

const ofQuestions = questionFields();

/** Names of field groups that `fields` accepts besides field names. */
export const fieldGroups: readonly string[] = [
  'summary',
  ...new Set(fields.map((spec) => spec.group)),
  'all',
];

/** The fields that a version of the API has. */
export function fieldsOf(all: readonly FieldSpec[], version: Version): readonly FieldSpec[] {
  return all.filter((spec) => spec[version] !== null && spec.type !== 'null');
}

/**
 * Turns names of fields and groups into fields, each once, in the order of the names. Names of the
 * other version are understood. The id of the call always comes first: without it a row cannot be
 * looked up.
 */
export function selectFields(
  all: readonly FieldSpec[],
  version: Version,
  names: readonly string[] = ['summary'],
): readonly FieldSpec[] {
  const available = fieldsOf(all, version);
  const selected = new Map<string, FieldSpec>();

  const add = (spec: FieldSpec | undefined): void => {
    if (spec) selected.set(spec.name, spec);
  };

  add(available.find((spec) => spec.name === 'sid'));
  for (const name of names.length === 0 ? ['summary'] : names) {
    const wanted = name
      .trim()
      .toLowerCase()
      .replace(/^date$/, 'date_added');
    if (wanted === 'all') available.forEach(add);
    else if (wanted === 'summary')
      for (const each of summary[version]) add(findField(available, each));
    else if (available.some((spec) => spec.group === wanted))
      available.filter((spec) => spec.group === wanted).forEach(add);
    else add(findField(available, wanted) ?? unknownField(all, available, version, name));
  }

  return [...selected.values()];
}

/** A name as fields are written. */
export const toName = (given: string): string =>
  given
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

/**
 * The field that a name means: its own, the one in v2 or v3, an alias, or what people call it, such
 * as `keyword`.
 */
export function findField(specs: readonly FieldSpec[], given: string): FieldSpec | undefined {
  const name = toName(given);
  return (
    specs.find((spec) => spec.name === name) ??
    specs.find(
      (spec) =>
        spec.v2 === name ||
        spec.v3 === name ||
        spec.aliases?.includes(name) ||
        spec.otherNames?.includes(name),
    )
  );
}

function unknownField(
  all: readonly FieldSpec[],
  available: readonly FieldSpec[],
  version: Version,
  name: string,
): never {
  const isElsewhere = findField(all, name) !== undefined;
  if (!isElsewhere && ofQuestions.has(toName(name)))
    throw invalid(
      'derived_field',
      `A call has no "${quotable(name)}": it follows from other fields.`,
      'analyze_calls groups by it, where and measures take it, describe_data describes it.',
    );

  const known = available.flatMap((spec) => [spec.name, ...(spec.otherNames ?? [])]);
  const missing = absentSentence(name);
  const absent = missing === null ? null : ` ${missing}`;
  const meant = nearest(name, [
    ...fieldGroups,
    ...known,
    ...ofQuestions.keys(),
    ...measures.map((each) => each.name),
  ]);
  throw invalid(
    'unknown_field',
    isElsewhere
      ? `The field "${quotable(name)}" does not exist in ${version} of the API.`
      : `There is no field "${quotable(name)}".${absent ?? didYouMean(meant)}`,
    `Use field names or the groups ${fieldGroups.join(', ')}; describe_data lists every field.`,
  );
}

const ofCalls: ReadonlySet<string> = new Set(fields.map(({ name }) => name));

/**
 * Fields that questions know and calls do not have: they follow from other fields, or from other
 * calls.
 */
export const derivedFields: readonly QuestionField[] = [...new Set(ofQuestions.values())].filter(
  ({ name }) => !ofCalls.has(name),
);

/** The derived field that a name means. */
export function findDerived(given: string): QuestionField | undefined {
  const name = ofQuestions.get(toName(given))?.name;
  return derivedFields.find((field) => field.name === name);
}

/**
 * The field by whose rules values of a field of a question are shown: its own, or that of the field
 * that they come from.
 */
export const shownAs = (specs: readonly FieldSpec[], name: string): FieldSpec | undefined =>
  // A click id comes out of an address that a visitor may have written.
  findField(specs, name === 'click_id' ? 'ppc_gclid' : (touches.get(name)?.field ?? name));
/** A value as an agent sees it. */
export type Cell = string | number | null;

/** Strings in the groups of a table are cut to this length. */
export const keyTextLimit = 80;

/** Shows the fields of one record: masked, text cleaned and fenced, numbers as numbers. */
export type RecordView = (
  call: Readonly<Record<string, unknown>>,
  specs: readonly FieldSpec[],
  textLimit: number,
) => Cell[];

/** Shows a value of a masked record: text fenced, numbers as numbers. */
export function showValue(spec: FieldSpec, value: unknown, textLimit: number): Cell {
  if (value === null || value === undefined || value === '') return null;
  const text = cleanText(String(value));
  if (numeric.has(spec.type) && numberForm.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(Math.trunc(number)) ? number : text;
  }

  // What the table and this server know says nothing that a stranger has written.
  const isKnown =
    text === hiddenMark ||
    (spec.agents === 'pseudonym' && isPseudonym(text)) ||
    /^[\d.:+ -]*$/.test(text) ||
    spec.values?.some((each) => String(each) === text) === true ||
    (ownIds.has(spec.name) && /^[\w.:-]+$/.test(text));
  const cut = cutText(text, textLimit);
  return isKnown ? cut : fence(cut);
}

/** Shows fields of a record. */
export const showRecord = (
  call: MaskedCall,
  specs: readonly FieldSpec[],
  textLimit: number,
): Cell[] => specs.map((spec) => showValue(spec, Reflect.get(call, spec.name), textLimit));

/** Ids that the server of the API makes; others pass through a browser. */
const ownIds: ReadonlySet<string> = new Set(['sid', 'acct_id']);

const numeric: ReadonlySet<string> = new Set(['decimal-string', 'integer-string', 'integer']);
