import type { Answer, AnswerValue, Question } from '@call-attribution/questions';
import { planQuestion } from '@call-attribution/questions';
import * as z from 'zod';
import { appMeta } from '../app/app.ts';
import { readSaid } from '../arguments/period.ts';
import { refusePersonal } from '../arguments/personal.ts';
import { type Chosen, choose, selectionShape } from '../arguments/selection.ts';
import { fieldGroups, findField, selectFields } from '../fields/select.ts';
import { type Cell, keyTextLimit, showValue } from '../fields/view.ts';
import { countThatFits, estimateTokens } from '../results/table.ts';
import type { Analysis } from '../source/source.ts';
import { ToolError } from '../text/failures.ts';
import { fieldNotes } from '../text/notes.ts';
import { groupsSummary, periodText, scopeSentence } from '../text/summaries.ts';
import { explainEmptyBefore, explainZero } from './explain-zero.ts';
import { goOn, resumed } from './resume.ts';
import { defineTool, readsApi, type ToolContext } from './tool.ts';

const name = 'analyze_calls';
const usualLimit = 20;
/** Groups of time are shown whole: a month of days, a day of hours. */
const usualTimeLimit = 100;
const timeGroups = ['hour', 'day', 'date', 'week', 'weekday', 'month'];

const input = z.object({
  ...selectionShape,
  group_by: z
    .array(z.string().max(60))
    .max(4)
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
      'Default calls, share. missed, missed_rate, talk_sum, talk_mean, talk_median, talk_p90, callers, repeat_callers, first_time_callers, lag_median, first, last, distinct(field), without(field), count(condition), share(condition), called_back_within(hours)',
    ),
  having: z.string().max(400).optional().describe('calls >= 30'),
  order: z.string().max(200).optional().describe('missed_rate desc'),
  limit: z.number().int().min(1).max(500).optional().describe(`Groups, default ${usualLimit}`),
  top_per: z.number().int().min(1).max(500).optional().describe('Groups per value of the first'),
  compare: z.string().max(60).optional().describe('previous, year or 2026-09-01..2026-09-30'),
  spend: z.array(z.string().max(300)).max(500).optional().describe('Costs: "Brand=1200.50"'),
  cursor: z.string().max(80).optional().describe('Goes on; alone'),
});

type Args = z.infer<typeof input>;

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
    columns: z.array(z.string()),
    rows: z.array(z.array(z.any())),
    totals: z.record(z.string(), z.any()).optional(),
    calls: z.number().int().optional(),
    groups: z.number().int().optional(),
    complete: z.boolean(),
    go_on: z.string().optional(),
    notes: z.array(z.string()),
  }),
  meta: appMeta,
  annotations: readsApi,
  async run(given, context) {
    const { args, saved } = resumed(name, given, context);
    const chosen = choose(args, context);
    const question = questionOf(args, chosen, context);
    const source = await context.source();
    const found = await source.analyze(question, { ...context, saved });
    const more = goOn(name, args, found, context);
    if (more && !more.hasNumbers)
      return {
        summary: more.sentence,
        columns: [],
        rows: [],
        complete: false,
        notes: [],
        go_on: more.cursor,
      };
    const notes = [...chosen.notes, ...(await notesOf(question, chosen, found, context))];
    return resultOf(question, chosen, found, { notes, incomplete: more?.sentence ?? '' }, context);
  },
});

function questionOf(args: Args, { selection }: Chosen, context: ToolContext): Question {
  const groupBy = args.group_by ?? [];
  for (const group of groupBy) refuseFieldGroup(group, context);
  const isTime = groupBy.some((group) => timeGroups.includes(group.trim().toLowerCase()));
  const { measures, having, order, top_per: topPer, compare, spend } = args;
  const question: Question = {
    ...selection,
    groupBy,
    measures: measures ?? (groupBy.length === 0 ? ['calls'] : ['calls', 'share']),
    limit: args.limit ?? (isTime ? usualTimeLimit : usualLimit),
    ...(having === undefined ? {} : { having }),
    ...(order === undefined ? {} : { order }),
    ...(topPer === undefined ? {} : { topPer }),
    ...(compare === undefined ? {} : { compare: readCompare(compare, context) }),
    ...(spend === undefined ? {} : { spend: readSpend(spend) }),
    // Records were masked before.
    personal: 'show',
  };
  for (const part of planQuestion(question, { now: context.clock.now() }).parts)
    if ('condition' in part) refusePersonal(part.condition, context);
  return question;
}

/** What a reader should know besides the numbers. */
async function notesOf(
  question: Question,
  chosen: Chosen,
  { answer, notes }: Analysis,
  context: ToolContext,
): Promise<readonly string[]> {
  const source = await context.source();
  const { compared, calls, total } = answer;
  const zero = calls === 0 ? await explainZero(chosen, source, context) : [];
  const isEmptyBefore =
    compared !== null && calls > 0 && (total.calls_before === 0 || total.calls_before === null);
  const before = isEmptyBefore ? await explainEmptyBefore(chosen.selection, compared, source, context) : [];
  return [...zero, ...before, ...saidOf(answer), ...notes, ...bucketNotes(question.groupBy ?? [], context)];
}

/** Sentences on zones, extensions and groups have their place in the summary. */
const saidElsewhere = new Set(['extensions', 'website', 'having', 'top_per', 'limit']);

const saidOf = ({ leftOut, notes }: Answer): readonly string[] => [
  ...leftOut.filter(({ code }) => !saidElsewhere.has(code)).map(({ message }) => message),
  ...notes.filter((note) => !/^Days and hours are|^No sync of account/.test(note)),
];

function resultOf(
  question: Question,
  { scope }: Chosen,
  { answer, asOf }: Analysis,
  said: { readonly notes: readonly string[]; readonly incomplete: string },
  context: ToolContext,
): Record<string, unknown> {
  const columns = answer.columns.map((column) => column.name);
  const specs = columns.map((column) => findField(context.fields, specName(column)));
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
  const result = (shown: number): Record<string, unknown> => ({
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
    complete: said.incomplete === '',
    notes,
  });
  const words = estimateTokens(JSON.stringify(result(0))) + 60;
  return result(rows.length === 0 ? 0 : countThatFits(rows, [], context.budget - words));
}

/** A click id comes out of an address that a visitor may have written. */
const specName = (column: string): string => (column === 'click_id' ? 'ppc_gclid' : column);

/** Shares and rates to four places, other numbers to two: more would only cost tokens. */
function cellOf(value: AnswerValue, spec?: ReturnType<typeof findField>): Cell {
  if (typeof value === 'boolean') return String(value);
  if (spec !== undefined) return showValue(spec, value, keyTextLimit);
  if (typeof value !== 'number' || Number.isInteger(value)) return value === '' ? null : value;
  return Number(value.toFixed(Math.abs(value) < 1 ? 4 : 2));
}

function summaryOf(answer: Answer, shown: number, incomplete: string, scope: string): string {
  const left = (code: string): number => answer.leftOut.find((each) => each.code === code)?.count ?? 0;
  const hasCalls = answer.columns.some((column) => column.name === 'calls');
  const counted = answer.rows.slice(0, shown).reduce((sum, row) => sum + Number(row.calls ?? 0), 0);
  const { groups, calls, compared } = answer;
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
          otherCalls: hasCalls ? calls - counted : null,
          having: left('having'),
          topPer: left('top_per'),
        })
      : '',
  ]
    .filter((text) => text !== '')
    .join(' ');
}

function bucketNotes(groupBy: readonly string[], { timeZone }: ToolContext): string[] {
  if (!groupBy.some((group) => timeGroups.includes(group.trim().toLowerCase()))) return [];
  return [
    timeZone === undefined
      ? 'Days and hours are as sent; the API names no time zone.'
      : `Days and hours are in ${timeZone}.`,
  ];
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

function readCompare(text: string, context: ToolContext): NonNullable<Question['compare']> {
  const word = text.trim().toLowerCase();
  if (word === 'previous' || word.startsWith('prev')) return 'previous';
  if (word === 'year' || word.startsWith('year_') || word === 'last_year') return 'year';
  const { from, to } = readSaid('compare', text.replace(/^(\S+),(\S+)$/, '$1..$2'), context.now());
  if (from !== null && to !== null) return { from, to };
  throw new ToolError({
    code: 'unknown_name',
    what: 'period to compare with named',
    name: text,
    nearest: undefined,
    known: ['previous', 'year', '2026-09-01..2026-09-30'],
  });
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
