import * as z from 'zod';
import { appMeta } from '../app/app.ts';
import { endOf, startOf } from '../arguments/period.ts';
import { choose, selectionShape, withMirror, withoutMirror } from '../arguments/selection.ts';
import { checkOrder } from '../fields/order.ts';
import { fieldGroups, findField, selectFields } from '../fields/select.ts';
import type { Cell } from '../fields/view.ts';
import { countThatFits, estimateTokens } from '../results/table.ts';
import type { Analysis, Question } from '../source/source.ts';
import { ToolError } from '../text/failures.ts';
import { fieldNotes } from '../text/notes.ts';
import { groupsSummary, incompleteSentence, periodText, scopeSentence } from '../text/summaries.ts';
import { defineTool, readsApi, type ToolContext } from './tool.ts';

const name = 'analyze_calls';
const usualLimit = 20;
/** Groups of time are shown whole: a month of days, a day of hours. */
const usualTimeLimit = 100;
const timeGroups = ['hour', 'day', 'date', 'week', 'weekday', 'month'];

/** Groups calls and measures the groups. */
export const analyzeCalls = defineTool({
  name,
  title: 'Analyze calls',
  description:
    'Totals, shares, rankings, trends, comparisons: exact measures of calls by group. ' +
    "where: SQL-like on any field, e.g. talk_minutes >= 2 AND state IN ('TX','CA') AND ppc_gclid IS NOT NULL AND NOT missed. " +
    'missed: talk_minutes is 0; talk_mean and talk_median include missed calls. A null group has no value.',
  input: z.object({
    ...selectionShape,
    group_by: z
      .array(z.string().max(60))
      .max(3)
      .optional()
      .describe(
        'Up to 3: any field or campaign, keyword, source, caller, day, week, month, weekday, hour, missed, caller_type (first, returning), lag_minutes (visit to call)',
      ),
    measures: z
      .array(z.string().max(60))
      .min(1)
      .max(12)
      .optional()
      .describe(
        'Default calls, share. missed, missed_rate, talk_sum, talk_mean, talk_median, talk_p90, callers, repeat_callers, first_time_callers, lag_median, first, last, distinct(field)',
      ),
    having: z.string().max(400).optional().describe('calls >= 30'),
    order: z.string().max(200).optional().describe('missed_rate desc'),
    limit: z.number().int().min(1).max(500).optional().describe(`Groups, default ${usualLimit}`),
    top_per: z.number().int().min(1).max(500).optional().describe('Groups per value of the first'),
    compare: z.string().max(60).optional().describe('previous, year or 2026-09-01..2026-09-30'),
    spend: z.array(z.string().max(300)).max(500).optional().describe('Costs: "Brand=1200.50"'),
  }),
  listedOnly: { withMirror, withoutMirror },
  output: z.object({
    summary: z.string(),
    columns: z.array(z.string()),
    rows: z.array(z.array(z.any())),
    totals: z.record(z.string(), z.any()).optional(),
    calls: z.number().int(),
    groups: z.number().int(),
    complete: z.boolean(),
    notes: z.array(z.string()),
  }),
  meta: appMeta,
  annotations: readsApi,
  async run(args, context) {
    const chosen = choose(args, context.version, context.today());
    checkOrder(args.order, context);
    const groupBy = args.group_by ?? [];
    for (const group of groupBy) refuseFieldGroup(group, context);
    const isTime = groupBy.some((group) => timeGroups.includes(group.trim().toLowerCase()));
    const limit = args.limit ?? (isTime ? usualTimeLimit : usualLimit);
    const question: Question = {
      groupBy,
      measures: args.measures ?? (groupBy.length === 0 ? ['calls'] : ['calls', 'share']),
      having: args.having,
      order: args.order,
      limit,
      topPer: args.top_per,
      compare: args.compare === undefined ? undefined : readCompare(args.compare, context),
      spend: args.spend === undefined ? undefined : readSpend(args.spend),
    };
    const source = await context.source();
    const answer = await source.analyze(chosen.selection, question, context);
    const specs = answer.fields.flatMap((field) => findField(context.fields, field) ?? []);
    const notes = [
      ...chosen.notes,
      ...answer.notes,
      ...fieldNotes(specs, context),
      ...bucketNotes(groupBy, context),
    ];
    const rows = answer.rows.map((row) => row.map(rounded));
    const words = estimateTokens(JSON.stringify([notes, answer.totals, args])) + 250;
    const shown = rows.slice(0, countThatFits(rows, answer.columns, context.budget - words));
    const totals = Object.fromEntries(
      Object.entries(answer.totals)
        .filter(([column]) => !column.startsWith('share'))
        .map(([column, value]) => [column, rounded(value)]),
    );
    return {
      summary: summaryOf(answer, chosen.scope, shown.length, question, args),
      columns: answer.columns,
      rows: shown,
      ...(groupBy.length === 0 ? {} : { totals }),
      calls: answer.calls,
      groups: answer.groups,
      complete: answer.incomplete === undefined,
      notes: [...new Set(notes)],
    };
  },
});

function summaryOf(
  answer: Analysis,
  scope: Parameters<typeof scopeSentence>[1],
  shown: number,
  question: Question,
  args: Readonly<Record<string, unknown>>,
): string {
  const column = answer.columns.indexOf('calls');
  const counted = answer.rows.slice(0, shown).reduce((sum, row) => sum + Number(row[column] ?? 0), 0);
  const facts = {
    groups: answer.groups,
    shown,
    allowed: answer.rows.length,
    calls: answer.calls,
    otherCalls: column < 0 ? null : answer.calls - counted,
    hasHaving: question.having !== undefined,
  };
  return [
    answer.incomplete ? incompleteSentence(answer.incomplete, name, args) : '',
    scopeSentence(answer.calls, scope, answer),
    answer.compared === null
      ? ''
      : `Compared with the time ${periodText(answer.compared.from, answer.compared.to)}.`,
    question.groupBy.length === 0 ? '' : groupsSummary(facts),
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** Shares and rates to four places, other numbers to two: more would only cost tokens. */
function rounded(value: Cell): Cell {
  if (typeof value !== 'number' || Number.isInteger(value)) return value;
  return Number(value.toFixed(Math.abs(value) < 1 ? 4 : 2));
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
function refuseFieldGroup(name: string, { fields, version }: ToolContext): void {
  const group = name.trim().toLowerCase();
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
  const [, from, to] = /^(.+?)\s*(?:\.\.|,|\bto\b)\s*(.+)$/.exec(text.trim()) ?? [];
  if (from === undefined || to === undefined)
    throw new ToolError({
      code: 'unknown_name',
      what: 'period to compare with named',
      name: text,
      nearest: undefined,
      known: ['previous', 'year', '2026-09-01..2026-09-30'],
    });
  const today = context.today();
  const period = { from: startOf('compare', from, today), to: endOf('compare', to, today) };
  if (period.from >= period.to)
    throw new ToolError({
      code: 'empty_range',
      start: period.from,
      end: period.to,
      swapped: `Use compare="${to}..${from}".`,
    });
  return period;
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
      return [group.trim(), Number(amount.replaceAll(',', ''))];
    }),
  );
}
