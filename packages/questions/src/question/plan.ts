import { naiveAt } from '@call-attribution/core/time';
import type { Condition, Vocabulary } from '../conditions/condition.ts';
import { fieldsOf } from '../conditions/condition.ts';
import { nameOf } from '../conditions/names.ts';
import { option, QuestionError, sentence } from '../errors.ts';
import type { FieldSettings } from '../fields/calendar.ts';
import type { QuestionField, ReadField } from '../fields/derived.ts';
import { readFields } from '../fields/vocabulary.ts';
import type { AnswerColumn } from './answer.ts';
import { columnsOf, growsWithTime, havingTerms, type PlannedMeasure } from './columns.ts';
import { type Part, unitOf } from './measures.ts';
import {
  type ClosedPeriod,
  comparedPeriod,
  elapsedOf,
  machineZone,
  periodNotes,
  type ReadPeriod,
  readPeriod,
  readZones,
  type Zones,
} from './period.ts';
import type { CallSelection, Question } from './question.ts';
import {
  type Order,
  readCount,
  readFilter,
  readGroups,
  readMeasures,
  readOrder,
  readWhere,
} from './resolve.ts';
import { readSpend, type Spend } from './spend.ts';

/** A condition of a selection. */
export interface PlannedCondition {
  /** The checked condition. */
  readonly condition: Condition;
  /** A filter of the API is about the times as they were sent, whatever zone the answer is in. */
  readonly asSent: boolean;
}

/** What is known of a selection before any call is read. */
export interface SelectionPlan {
  /** The period. */
  readonly period: ReadPeriod;
  /** The time zones. */
  readonly zones: Zones;
  /** Which channel of calls. */
  readonly calls: NonNullable<CallSelection['calls']>;
}

/** What is known of a question before any call is read. */
export interface Plan extends SelectionPlan {
  /** The fields that groups are made by. */
  readonly groups: readonly QuestionField[];
  /** What has to be counted, each once. The number of calls is the first, of those through call extensions the second. */
  readonly parts: readonly Part[];
  /** The period to compare with. */
  readonly compared: ClosedPeriod | null;
  /** Something in it follows from the other calls of a caller. */
  readonly needsSequence: boolean;
}

/** Which calls a question is about, with all names and times read. */
export interface ReadSelection extends SelectionPlan {
  /** The fields by their names. */
  readonly fields: ReadonlyMap<string, ReadField>;
  /** What values of fields depend on. */
  readonly settings: FieldSettings;
  /** What has to be said about the period. */
  readonly periodNotes: ReturnType<typeof periodNotes>;
  /** What the clock shows in the zone of the answer; where nobody has said which that is, in the one of this machine. */
  readonly now: number;
  /** The accounts; null for all. */
  readonly accounts: readonly string[] | null;
  /** All must hold. */
  readonly conditions: readonly PlannedCondition[];
}

/** A question in which all names and times have been read. */
export interface ReadQuestion extends ReadSelection, Plan {
  /** The fields that groups are made by. */
  readonly groups: readonly ReadField[];
  /** The measures, in order. */
  readonly measures: readonly PlannedMeasure[];
  /** The compared periods are of different length: changes of measures that add up are per day. */
  readonly changesPerDay: boolean;
  /** What was spent, by group. */
  readonly spend: Spend | null;
  /** The columns of the answer, in order. */
  readonly columns: readonly AnswerColumn[];
  /** The condition on measures. */
  readonly having: { readonly condition: Condition; readonly terms: Vocabulary } | null;
  /** How rows are ordered. */
  readonly order: readonly Order[];
  /** Most rows. */
  readonly limit: number;
  /** Most rows of each first group. */
  readonly topPer: number | null;
  /** What is shown of personal fields. */
  readonly personal: Question['personal'];
}

/** What a question is read with. */
export interface ReadOptions {
  /** The instant that words such as `yesterday` are about, in milliseconds. Default: now. */
  readonly now?: number | undefined;
}

/** Reads everything about a selection that needs no calls. */
export function readSelection(
  selection: CallSelection,
  { now = Date.now() }: ReadOptions = {},
): ReadSelection {
  const settings: FieldSettings = { weekStart: selection.weekStart };
  const zones = readZones(selection);
  const clock = { ...settings, now, timeZone: zones.inZone ?? zones.timeZone };
  const period = readPeriod(selection, clock);
  const fields = readFields(settings);
  const filter = selection.q === undefined ? null : readFilter(selection.q);
  const where = selection.where === undefined ? null : readWhere(selection.where, fields, 'where');
  const calls = selection.calls ?? (filter && !filter.extensions ? 'website' : 'all');
  if (!['all', 'website', 'extensions'].includes(calls)) {
    throw new QuestionError(
      'invalid_question',
      sentence`${option('calls')} is ${JSON.stringify(calls)}: expected 'all', 'website' or 'extensions'.`,
    );
  }
  if (selection.accounts?.length === 0) {
    throw new QuestionError(
      'invalid_question',
      sentence`${option('accounts')} is empty: name at least one, or leave it out for all.`,
    );
  }
  return {
    fields,
    settings,
    zones,
    period,
    periodNotes: periodNotes(period, clock),
    now: naiveAt(now, clock.timeZone ?? machineZone()),
    accounts: selection.accounts ?? null,
    calls,
    conditions: [
      ...(where ? [{ condition: where, asSent: false }] : []),
      ...(filter ? [{ condition: filter.condition, asSent: true }] : []),
    ],
  };
}

/** Reads a whole question. */
export function readQuestion(question: Question, { now = Date.now() }: ReadOptions = {}): ReadQuestion {
  const selection = readSelection(question, { now });
  const { fields, period, settings, zones } = selection;
  const groups = readGroups(question.groupBy ?? [], fields);
  const read = readMeasures(question.measures ?? ['calls'], fields);
  refusePersonal(groups, question);
  const parts: Part[] = [{ kind: 'calls' }, { kind: 'extensions' }];
  const places = new Map(parts.map((part, i) => [JSON.stringify(part), i]));
  const placeOf = (part: Part): number => {
    const id = JSON.stringify(part);
    const at = places.get(id) ?? parts.push(part) - 1;
    places.set(id, at);
    return at;
  };
  const isOpen = period.from === null || period.to === null;
  const needsEnds =
    isOpen && (groups.some(({ isTime }) => isTime) || read.some(({ measure }) => measure.name === 'per_day'));
  if (needsEnds) for (const kind of ['first', 'last'] as const) placeOf({ kind });
  const measures = read.map(
    ({ column, measure, argument }): PlannedMeasure => ({
      ...{ ...measure, column, scale: argument.scale, unit: unitOf(measure, argument.field) },
      meaning: measure.meaning.replaceAll('{}', () => argument.text),
      parts: measure.parts(argument).map(placeOf),
      counted: measure.leaves === undefined ? null : placeOf(measure.leaves.counted),
    }),
  );
  const compared =
    question.compare === undefined
      ? null
      : comparedPeriod(
          question.compare,
          period,
          { ...settings, now, timeZone: zones.inZone ?? zones.timeZone },
          groups.some(({ name }) => name === 'week'),
        );
  const spend = question.spend === undefined ? null : readSpend(question.spend, groups);
  const changesPerDay =
    compared !== null &&
    elapsedOf(period, selection.now) !== elapsedOf(compared, selection.now) &&
    measures.some(growsWithTime);
  const changes = changesPerDay ? 'per_day' : 'plain';
  const columns = columnsOf(groups, measures, compared === null ? 'no' : changes, spend !== null);
  for (const name of ['having', 'topPer'] as const) {
    if (question[name] !== undefined && groups.length === 0)
      throw new QuestionError(
        'invalid_question',
        sentence`${option(name)} needs ${option('groupBy')}: there is only one row without groups.`,
      );
  }
  const terms = havingTerms(columns, measures);
  return {
    ...selection,
    groups,
    measures,
    parts,
    compared,
    changesPerDay,
    spend,
    columns,
    having:
      question.having === undefined
        ? null
        : { condition: readWhere(question.having, terms, 'having'), terms },
    order: orderOf(question, groups, columns, fields),
    limit: readCount('limit', question.limit, 1, 1_000_000) ?? 1000,
    topPer: readCount('topPer', question.topPer, 1, 1_000_000),
    personal: question.personal,
    needsSequence: needsSequence({ ...selection, groups, parts }),
  };
}

/** Reads which calls are meant, and refuses what cannot be read. */
export const planSelection = (selection: CallSelection, options?: ReadOptions): SelectionPlan =>
  readSelection(selection, options);

/** Reads a question, and refuses what cannot be read. */
export const planQuestion = (question: Question, options?: ReadOptions): Plan =>
  readQuestion(question, options);

/** What decides which fields are needed. */
export type Needs = Pick<ReadQuestion, 'groups' | 'conditions' | 'parts' | 'fields'>;

/** The fields that a question names, those that follow from others included. */
export function namedFields({ groups, conditions, parts, fields }: Needs): readonly string[] {
  const names = [
    ...groups.map(({ name }) => name),
    ...conditions.flatMap(({ condition }) => [...fieldsOf(condition)]),
    ...parts.flatMap((part) => {
      if ('condition' in part) return [...fieldsOf(part.condition)];
      if ('field' in part) return [part.field];
      return ofTalk.includes(part.kind) ? ['talk_minutes'] : [];
    }),
  ];
  return names.map((name) => fields.get(name)?.name ?? name);
}

const ofTalk: readonly string[] = [
  ...['missed', 'answered', 'judged'],
  ...['followed', 'called_again', 'reached'],
];

/** Does it depend on the other calls of a caller? */
export function needsSequence(needs: Needs): boolean {
  const ofCallers = needs.parts.some((part) => part.kind === 'first_time' || 'hours' in part);
  return ofCallers || namedFields(needs).some((name) => needs.fields.get(name)?.needsSequence);
}

/** Time in its order; otherwise most of the first measure first. */
function orderOf(
  { order }: Question,
  groups: readonly ReadField[],
  columns: readonly AnswerColumn[],
  fields: ReadonlyMap<string, ReadField>,
): readonly Order[] {
  if (order !== undefined) {
    const others = new Map([...fields].map(([name, field]) => [nameOf(name), field.name]));
    return readOrder(
      order,
      columns.map(({ name }) => name),
      'the answer',
      others,
    );
  }
  if (groups[0]?.isTime) return [];
  const first = columns.find(({ kind }) => kind === 'measure');
  return first === undefined ? [] : [{ column: first.name, descending: true }];
}

function refusePersonal(groups: readonly ReadField[], { personal }: Question): void {
  const field = groups.find((group) => group.personal);
  if (field === undefined || personal === 'show' || typeof personal === 'function') return;
  throw new QuestionError(
    'invalid_question',
    sentence`${field.name} is personal data. To count callers use the measure callers; to see the values set ${option('personal')} to 'show' or to a function that masks them.`,
  );
}
