import type { FieldSpec } from '@call-attribution/core';
import { formatNaive, naiveAt } from '@call-attribution/core/time';
import type { Answer, AnswerValue, Question } from '@call-attribution/questions';
import { covered, partOfBucket } from '@call-attribution/questions/chart';
import * as z from 'zod';
import { appMeta } from '../app/app.ts';
import { type Chosen, choose } from '../arguments/selection.ts';
import type { Origin } from '../copy/source.ts';
import { shownAs } from '../fields/derived.ts';
import { type Cell, keyTextLimit, showValue } from '../fields/view.ts';
import { countThatFits, estimateTokens, type Table } from '../results/table.ts';
import { ToolError } from '../text/failures.ts';
import { count, fieldNotes, isSaidElsewhere, sentencesOf } from '../text/notes.ts';
import { groupsSummary, periodText, scopeSentence, withoutSentence } from '../text/summaries.ts';
import { explainChange } from './explain-change.ts';
import { explainEmptyBefore, explainZero } from './explain-zero.ts';
import { input, isTimeGroup, questionOf } from './read-question.ts';
import { folderFor, rowsMissing, rowsOfFile, writeRows } from './to-file.ts';
import { defineTool, readsApi, type ToolContext } from './tool.ts';

const name = 'analyze_calls';
/** Groups calls and measures the groups. */
export const analyzeCalls = defineTool({
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
  annotations: readsApi,
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
