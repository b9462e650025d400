import type { FieldSpec } from '@call-attribution/core';
import { formatNaive, naiveAt } from '@call-attribution/core/time';
import { type Answer, type AnswerValue, planQuestion, type Question } from '@call-attribution/questions';
import { covered, partOfBucket } from '@call-attribution/questions/chart';
import { measureForms } from '@call-attribution/questions/measures';
import * as z from 'zod';
import { appMeta } from '../app/app.ts';
import type { Origin } from '../copy/source.ts';
import {
  type Cell,
  fieldGroups,
  findField,
  keyTextLimit,
  selectFields,
  shownAs,
  showValue,
} from '../fields.ts';
import { ToolError } from '../text/failures.ts';
import { count, counted, fieldNotes, isSaidElsewhere, sentencesOf } from '../text/notes.ts';
import { periodText, scopeSentence, withoutSentence } from '../text/summaries.ts';
import { type Chosen, choose, refusePersonal, selectionShape } from './arguments.ts';
import { explainEmptyBefore, explainZero } from './explain-zero.ts';
import { countThatFits, estimateTokens, type Table } from './table.ts';
import { folderFor, rowsMissing, rowsOfFile, toFileShape, writeRows } from './to-file.ts';
import { type ToolContext, tool } from './tool.ts';

const usualLimit = 20;
/** Groups of time are shown whole: a month of days, a day of hours. */
const usualTimeLimit = 100;
const timeGroups = ['hour', 'day', 'date', 'week', 'weekday', 'month'];

/** Is this group a time? */
const isTimeGroup = (group: string): boolean => timeGroups.includes(group.trim().toLowerCase());

/** What can be asked. */
const input = z.object({
  ...selectionShape,
  group_by: z
    .array(z.string().max(60))
    .optional()
    .describe(
      'Up to 4: any field or campaign, keyword, source, caller, day, week, month, weekday, hour, missed, caller_type (first, returning), caller_nth, hours_since_previous_call, lag_minutes (visit to call)',
    ),
  measures: z
    .array(z.string().max(400))
    .min(1)
    .max(12)
    .optional()
    .describe(
      `Default calls, share. All: ${measureForms.join(', ')}. Callers are reached by an answered call, and call again answered or not`,
    ),
  having: z.string().max(400).optional().describe('calls >= 30'),
  order: z.string().max(200).optional().describe('missed_rate desc'),
  limit: z.number().int().min(1).max(rowsOfFile).optional().describe(`Groups, default ${usualLimit}`),
  top_per: z.number().int().min(1).max(500).optional().describe('Groups per value of the first'),
  compare: z.string().max(60).optional().describe('previous, year or 2026-09-01..2026-09-30'),
  explain: z.boolean().optional().describe('With compare: what changed most'),
  spend: z
    .array(z.string().max(300))
    .max(500)
    .optional()
    .describe('Costs of groups, named as in rows: "Brand=1200.50"'),
  ...toFileShape,
});

const name = 'analyze_calls';

/** Groups calls and measures the groups. */
export const analyzeCalls = tool({
  name,
  title: 'Analyze calls',
  description:
    'Totals, shares, rankings, trends, comparisons: exact measures of calls by group. ' +
    "where: SQL-like on any field, e.g. talk_minutes >= 2 AND state IN ('TX','CA') AND ppc_gclid IS NOT NULL AND NOT missed. " +
    'missed: talk_minutes is 0; talk_mean and talk_median include missed calls. A null group has no value.',
  input,
  output: z.object({
    summary: z.string(),
    columns: z.array(z.string()).optional(),
    rows: z.array(z.array(z.any())).optional(),
    totals: z.record(z.string(), z.any()).optional(),
    calls: z.number().int().optional(),
    groups: z.number().int().optional(),
    complete: z.boolean(),
    notes: z.array(z.string()),
  }),
  meta: appMeta,
  answers: 'Totals, shares, rankings, trends, comparisons (one call for a question)',
  async run(args, context) {
    const chosen = choose(args, context);
    const folder = folderFor(args, context);
    const question = questionOf(folder === null ? args : { ...args, limit: rowsOfFile }, chosen, context);
    const { answers, ...origin } = await context.source.analyze([question], context);
    const found = { answer: answers[0] as Answer, ...origin };
    const incomplete = withoutSentence(found.without);
    if (folder !== null && incomplete !== '') throw rowsMissing(name, [incomplete, ...found.notes]);
    const notes = [...chosen.notes, ...(await notesOf(question, chosen, found, context))];
    const budget = folder === null ? context.budget : Number.POSITIVE_INFINITY;
    const answer =
      args.explain === true
        ? await explained(question, chosen, found, notes, context)
        : resultOf(question, chosen, found, { notes, incomplete, budget }, context);
    return folder === null ? answer : { ...(await writeRows(name, folder, answer)), complete: true };
  },
});

/** An answer, and where it comes from. */
interface Analysis extends Origin {
  readonly answer: Answer;
}

/** The data of an answer: its rows, and what is said of them. */
type AnswerTable = Record<string, unknown> & Pick<Table, 'columns' | 'rows'>;

/** The answer with the groups that changed most instead of its own. */
async function explained(
  question: Question,
  { scope }: Chosen,
  { answer, asOf, without }: Analysis,
  notes: readonly string[],
  context: ToolContext,
): Promise<AnswerTable> {
  const { compared, calls, extensions, total } = answer;
  if (compared === null)
    throw new ToolError({
      code: 'invalid_question',
      message: 'explain says what changed between two periods: add compare="previous".',
    });
  const change = await explainChange(question, context);
  const said = scopeSentence(calls, scope, { extensionsLeftOut: extensions.leftOut, asOf });
  const before = Number(total.calls_before ?? 0);
  return {
    summary:
      `${withoutSentence(without)} ${said} ${count(before)} ${periodText(compared.from, compared.to)}. ${change.sentence}`.trim(),
    columns: change.columns,
    rows: change.rows,
    calls,
    groups: change.rows.length,
    complete: without.length === 0,
    notes,
  };
}

/** What a reader should know besides the numbers. */
async function notesOf(
  question: Question,
  chosen: Chosen,
  { answer, notes, without }: Analysis,
  context: ToolContext,
): Promise<readonly string[]> {
  const { source } = context;
  const { compared, calls, total } = answer;
  const zero = calls === 0 ? await explainZero(chosen, { without }, source, context) : [];
  const isEmptyBefore =
    compared !== null &&
    calls > 0 &&
    without.length === 0 &&
    (total.calls_before === 0 || total.calls_before === null);
  const before = isEmptyBefore ? await explainEmptyBefore(chosen.selection, compared, source, context) : [];
  return [
    ...zero,
    ...before,
    ...saidOf(answer),
    ...notes,
    ...bucketNotes(question.groupBy ?? [], answer.period),
  ];
}

/** Sentences on zones, extensions and groups have their place in the summary. */
const saidElsewhere = new Set(['extensions', 'website', 'having', 'top_per', 'limit']);

const saidOf = ({ leftOut, notes }: Answer): readonly string[] =>
  sentencesOf([
    ...leftOut.filter(({ code }) => !saidElsewhere.has(code)),
    ...notes.filter((note) => !isSaidElsewhere(note)),
  ]);

function resultOf(
  question: Question,
  { scope }: Chosen,
  { answer, asOf }: Analysis,
  said: { readonly notes: readonly string[]; readonly incomplete: string; readonly budget: number },
  context: ToolContext,
): AnswerTable {
  const columns = answer.columns.map((column) => column.name);
  const specs = columns.map((column) => shownAs(context.fields, column));
  const groups = question.groupBy?.length ?? 0;
  const rows = answer.rows.map((row) =>
    columns.map((column, i) => cellOf(row[column] ?? null, i < groups ? specs[i] : undefined)),
  );
  const shownFields = specs.slice(0, groups).flatMap((spec) => spec ?? []);
  const notes = [...new Set([...said.notes, ...fieldNotes(shownFields, context)])];
  const totals = Object.fromEntries(
    Object.entries(answer.total)
      .filter(([column]) => !column.startsWith('share') || column.startsWith('share('))
      .map(([column, value]) => [column, cellOf(value)]),
  );
  const result = (shown: number): AnswerTable => ({
    summary: summaryOf(
      answer,
      shown,
      said.incomplete,
      scopeSentence(answer.calls, scope, { extensionsLeftOut: answer.extensions.leftOut, asOf }),
    ),
    columns,
    rows: rows.slice(0, shown),
    ...(groups === 0 ? {} : { totals }),
    calls: answer.calls,
    groups: answer.groups,
    ...partialOf(answer, asOf),
    complete: said.incomplete === '',
    notes,
  });
  const words = estimateTokens(JSON.stringify(result(0))) + 60;
  return result(rows.length === 0 ? 0 : countThatFits(rows, [], said.budget - words));
}

/** The days, weeks or months that the period does not cover whole, with how much there is: nobody takes the last one for a drop. */
function partialOf({ columns, rows, period }: Answer, asOf: string): { partial?: Record<string, string> } {
  const { timeZone } = period;
  const read = Date.parse(asOf);
  const until = timeZone === null || Number.isNaN(read) ? null : formatNaive(naiveAt(read, timeZone));
  const parts = columns.flatMap(({ name, kind }) =>
    kind !== 'group'
      ? []
      : rows.flatMap((row) => {
          const value = String(row[name] ?? '');
          const part = partOfBucket(name, value, covered(period, until));
          return part === null ? [] : [[value, part] as const];
        }),
  );
  return parts.length === 0 ? {} : { partial: Object.fromEntries(parts) };
}

/** Shares and rates to four places, other numbers to two: more would only cost tokens. */
function cellOf(value: AnswerValue, spec?: FieldSpec): Cell {
  if (typeof value === 'boolean') return String(value);
  if (spec !== undefined) return showValue(spec, value, keyTextLimit);
  if (typeof value !== 'number' || Number.isInteger(value)) return value === '' ? null : value;
  return Number(value.toFixed(Math.abs(value) < 1 ? 4 : 2));
}

function summaryOf(answer: Answer, shown: number, incomplete: string, scope: string): string {
  const left = (code: string): number => answer.leftOut.find((each) => each.code === code)?.count ?? 0;
  const { groups, calls, compared } = answer;
  const hasCalls = answer.columns.some((column) => column.name === 'calls');
  const counted = answer.rows.slice(0, shown).reduce((sum, row) => sum + Number(row.calls ?? 0), 0);
  const otherCalls = hasCalls ? calls - counted : null;
  const isGrouped = answer.columns[0]?.kind === 'group';
  return [
    incomplete,
    scope,
    compared === null ? '' : `Compared with the time ${periodText(compared.from, compared.to)}.`,
    isGrouped
      ? groupsSummary({
          groups,
          shown,
          allowed: answer.rows.length,
          calls,
          otherCalls,
          having: left('having'),
          topPer: left('top_per'),
        })
      : '',
  ]
    .filter((text) => text !== '')
    .join(' ');
}

function bucketNotes(groupBy: readonly string[], { timeZone }: Answer['period']): string[] {
  if (!groupBy.some((group) => isTimeGroup(group))) return [];
  return [
    timeZone === null
      ? 'Days and hours are as sent; the API names no time zone.'
      : `Days and hours are in ${timeZone}.`,
  ];
}

type Args = z.infer<typeof input>;

/** The question of a call. Throws an error that says what is wrong and the nearest right thing. */
function questionOf(args: Args, { selection }: Chosen, context: ToolContext): Question {
  const groupBy = args.group_by ?? [];
  for (const group of groupBy) refuseFieldGroup(group, context);
  const isTime = groupBy.some(isTimeGroup);
  const { measures, having, order, top_per: topPer, compare, spend } = args;
  const question: Question = {
    ...selection,
    groupBy,
    measures: measures ?? (groupBy.length === 0 ? ['calls'] : ['calls', 'share']),
    limit: args.limit ?? (isTime ? usualTimeLimit : usualLimit),
    ...(having === undefined ? {} : { having }),
    ...(order === undefined ? {} : { order }),
    ...(topPer === undefined ? {} : { topPer }),
    ...(compare === undefined ? {} : { compare: comparedWith(compare) }),
    ...(spend === undefined ? {} : { spend: readSpend(spend) }),
    // Records were masked before.
    personal: 'show',
  };
  const { parts, compared } = planQuestion(question, { now: context.clock.now() });
  for (const part of parts) if ('condition' in part) refusePersonal(part.condition, context);
  if (compared === null || question.compare === 'previous' || question.compare === 'year') return question;
  // Words mean another period tomorrow, when the question may still be asked.
  return { ...question, compare: { from: formatNaive(compared.from), to: formatNaive(compared.to) } };
}

/** `ads` is not a field but a name for several, which `list_calls` takes. */
function refuseFieldGroup(given: string, { fields, version }: ToolContext): void {
  const group = given.trim().toLowerCase();
  if (!fieldGroups.includes(group) || findField(fields, group)) return;
  const known = selectFields(fields, version, [group])
    .slice(1)
    .map((spec) => spec.name);
  throw new ToolError({ code: 'group_of_fields', name: group, known });
}

/** How agents write what to compare with. */
function comparedWith(text: string): string {
  const word = text.trim().toLowerCase();
  if (word.startsWith('prev')) return 'previous';
  return word === 'last_year' || word.startsWith('year_') ? 'year' : word.replace(/^(\S+),(\S+)$/, '$1..$2');
}

function readSpend(list: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    list.map((entry) => {
      const [, group = '', amount] = /^(.*)[=:]\s*\D{0,2}(\d[\d,]*(?:\.\d+)?)\s*$/s.exec(entry) ?? [];
      if (amount === undefined)
        throw new ToolError({
          code: 'invalid_question',
          message: `spend has "${entry.slice(0, 60)}": write each entry as "Brand=1200.50".`,
        });
      // Names are given as answers show them, with the marks around a visitor's text.
      return [group.trim().replace(/^«|»$/g, ''), Number(amount.replaceAll(',', ''))];
    }),
  );
}

// What changed between two periods, and where: the same comparison by everything that usually explains it.

const dimensions = [
  'channel',
  'ppc_campaign',
  'ppc_keywords',
  'landing_page',
  'vt_device',
  'state',
  'weekday',
  'hour',
];
const mostRows = 12;

/** A group that changed. */
interface Change {
  readonly by: string;
  readonly value: Cell;
  readonly calls: number;
  readonly before: number;
}

/** The groups that changed most, and how much of the whole change they are. */
interface ChangeFound {
  readonly sentence: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Asks a question of two periods by each dimension. */
async function explainChange(question: Question, context: ToolContext): Promise<ChangeFound> {
  const { groupBy: _, having: __, order: ___, topPer: ____, spend: _____, ...asked } = question;
  const { answers } = await context.source.analyze(
    dimensions.map((by) => ({ ...asked, groupBy: [by], measures: ['calls'], limit: 5000 })),
    context,
  );
  const found = answers.flatMap((answer, i) => changesOf(dimensions[i] ?? '', answer, context));
  const { calls, calls_before: before } = answers[0]?.total ?? {};
  const whole = numberOf(calls) - numberOf(before);
  // A group of one dimension moves with those of others: the largest of each come first.
  const sorted = found.sort((a, b) => Math.abs(b.calls - b.before) - Math.abs(a.calls - a.before));
  const perDimension = new Map<string, number>();
  const rows = sorted.filter(({ by }) => {
    const seen = perDimension.get(by) ?? 0;
    perDimension.set(by, seen + 1);
    return seen < 3;
  });
  return {
    sentence: `${largestOf(rows[0], whole)} Groups of different fields overlap: do not add them up.`,
    columns: ['by', 'value', 'calls', 'calls_before', 'calls_change'],
    rows: rows
      .slice(0, mostRows)
      .map(({ by, value, calls, before }) => [by, value, calls, before, calls - before]),
  };
}

function largestOf(first: Change | undefined, whole: number): string {
  if (first === undefined) return 'No group changed.';
  const { by, value, calls, before } = first;
  const part = whole === 0 ? '' : ` (${Math.round(((calls - before) / whole) * 100)}% of the whole change)`;
  return `The largest change: ${by} ${value ?? '(none)'}, from ${count(before)} to ${count(calls)}${part}.`;
}

const numberOf = (value: AnswerValue | undefined): number => (typeof value === 'number' ? value : 0);

function shownGroup(spec: FieldSpec | undefined, value: AnswerValue): Cell {
  if (value === null) return null;
  return spec === undefined || typeof value === 'boolean'
    ? String(value)
    : showValue(spec, value, keyTextLimit);
}

function changesOf(by: string, answer: Answer, { fields }: ToolContext): Change[] {
  const spec = findField(fields, by);
  return answer.rows.flatMap((row) => {
    const [calls, before] = [numberOf(row.calls), numberOf(row.calls_before)];
    if (calls === before) return [];
    return [{ by, value: shownGroup(spec, row[by] ?? null), calls, before }];
  });
}

/** What `analyze_calls` says about its groups. */
interface GroupFacts {
  readonly groups: number;
  readonly shown: number;
  /** Groups that the answer has, before the budget cut it. */
  readonly allowed: number;
  /** Calls in all groups, and in those that are not shown; null when nobody counted them. */
  readonly calls: number;
  readonly otherCalls: number | null;
  /** Groups that `having` and `top_per` leave out. */
  readonly having: number;
  readonly topPer: number;
}

/** Says how many groups there are and what the hidden ones hold. */
function groupsSummary(facts: GroupFacts): string {
  const { groups, shown, allowed, calls: all, otherCalls, having, topPer } = facts;
  if (groups === 0) return '';
  const total = counted(groups, 'group', 'groups');
  if (shown === groups) return `${total}, all shown.`;
  const met = groups - having - topPer;
  const meets = groups - having === 1 ? 'meets' : 'meet';
  const parts = [
    ...(having > 0 ? [`${count(groups - having)} ${meets} having`] : []),
    ...(topPer > 0 ? [`top_per leaves out ${count(topPer)}`] : []),
    ...(shown < met ? [`the first ${count(shown)} are shown`] : []),
  ];
  const share =
    otherCalls === null || all === 0
      ? ''
      : `, the others have ${counted(otherCalls, 'call', 'calls')} (${Math.round((otherCalls / all) * 100)}%)`;
  let more = '';
  if (shown < allowed) more = ' More do not fit: narrow the question.';
  else if (shown < met) more = ' A higher limit shows more.';
  return `${total}; ${parts.join(', ')}${share}.${more}`;
}
