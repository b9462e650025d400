import type { FieldSpec } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { formatNaive, naiveAt } from '@call-attribution/core/time';
import {
  type Answer,
  type AnswerValue,
  planQuestion,
  type Question,
} from '@call-attribution/questions';
import {
  covered,
  formatCount,
  formatCounted,
  partOfBucket,
} from '@call-attribution/questions/chart';
import { measureForms } from '@call-attribution/questions/measures';
import * as z from 'zod';
import { appMeta } from '../app/app.ts';
import { type Cell, findField, keyTextLimit, shownAs, showValue } from '../fields.ts';
import { invalidQuestion } from '../text/failures.ts';
import {
  fieldNotes,
  periodText,
  scopeSentence,
  sentencesOf,
  withoutSentence,
} from '../text/words.ts';
import { annotationNotes } from './annotations.ts';
import {
  type Chosen,
  choose,
  refuseDistinct,
  refusePersonal,
  selectionShape,
} from './arguments.ts';
import { explainEmptyBefore, explainZero } from './explain-zero.ts';
import { type OutcomeArguments, outcomesIn, refusePerCaller, usualOfOutcomes } from './outcomes.ts';
import { rowsMissing, rowsOfFile, writeRows } from './save-csv.ts';
import { countThatFits, estimateTokens } from './table.ts';
import { type ToolContext, tableOutput, tool } from './tool.ts';

const usualLimit = 20;
/** Groups of time are shown whole: a month of days, a day of hours. */
const usualTimeLimit = 100;
const timeGroups = ['hour', 'day', 'date', 'week', 'weekday', 'month'];

/** Is this group a time? */
const isTimeGroup = (group: string): boolean => timeGroups.includes(group.trim().toLowerCase());

/** What can be asked. */
const input = z
  .object({
    ...selectionShape,
    group_by: z
      .array(z.string().max(60))
      .describe(
        'Up to 4: any field or campaign, keyword, source, caller, day, week, month, weekday, hour, missed, caller_type (first, returning), caller_nth, hours_since_previous_call, lag_minutes (visit to call)',
      ),
    measures: z
      .array(z.string().max(400))
      .min(1)
      .max(12)
      .describe(
        `Default calls, share. All: ${measureForms.join(', ')}. Callers are reached by an answered call, and call again answered or not`,
      ),
    having: z.string().max(400).describe('calls >= 30'),
    order: z.string().max(200).describe('missed_rate desc'),
    limit: z.number().int().min(1).max(rowsOfFile).describe(`Groups, default ${usualLimit}`),
    top_per: z.number().int().min(1).max(500).describe('Groups per value of the first'),
    compare: z.string().max(60).describe('previous, year or 2026-09-01..2026-09-30'),
    explain: z.boolean().describe('With compare: what changed most'),
    spend: z
      .array(z.string().max(300))
      .max(500)
      .describe('Costs of groups, named as in rows: "Brand=1200.50"; calls is then all'),
  })
  .partial();

const name = 'analyze_calls';

/** Whole calls say more than words about their parts. */
const examples = [
  '{"period":"last month","group_by":["campaign"],"measures":["calls","missed_rate"],"having":"calls >= 10"}',
  '{"from":"28d","group_by":["week"],"measures":["callers","count(talk_minutes >= 2) as long"]}',
  '{"period":"this month","compare":"previous","explain":true}',
];

/** Groups calls and measures the groups. */
export const analyzeCalls = tool({
  name,
  title: 'Analyze calls',
  description:
    'Totals, shares, rankings, trends, comparisons: exact measures of calls by group. ' +
    "where: SQL-like on any field, e.g. talk_minutes >= 2 AND state IN ('TX','CA') AND ppc_gclid IS NOT NULL AND NOT missed. " +
    'missed: talk_minutes is 0; talk_mean and talk_median include missed calls. A null group has no value. ' +
    `Examples: ${examples.join(' ')}`,
  input,
  output: z
    .object({
      ...tableOutput,
      totals: z.record(z.string(), z.any()),
      calls: z.number().int(),
      groups: z.number().int(),
    })
    .partial(),
  meta: appMeta,
  answers: 'Totals, shares, rankings, trends, comparisons (one call for a question)',
  async run(args: Args, context) {
    const { source, folder } = context;
    // Calls through call extensions were paid for, too.
    const isOfSpend = args.spend !== undefined && args.calls === undefined;
    const chosen = choose(isOfSpend ? { ...args, calls: 'all' } : args, context);
    const spend =
      args.spend && (await fromFiles(spendIn(args.spend, args.spend_columns ?? null, context)));
    const outcomes = await fromFiles(outcomesIn(args, context));
    const { question, said: ofMeasures } = questionOf(
      folder === null ? args : { ...args, limit: rowsOfFile },
      chosen,
      { spend, outcomes },
      context,
    );
    const { answers, asOf, without, ...origin } = await source.analyze([question], context);
    const answer = answers[0] as Answer;
    const { calls, compared, extensions, period, total } = answer;
    const incomplete = withoutSentence(without);
    if (folder !== null && incomplete !== '')
      throw rowsMissing(name, [incomplete, ...origin.notes]);
    if (args.explain === true && compared === null)
      throw invalidQuestion(
        'explain says what changed between two periods: add compare="previous".',
      );

    const notes = [...chosen.notes, ...ofMeasures];
    if (calls === 0) notes.push(...(await explainZero(chosen, { without }, context)));
    else if (compared !== null && without.length === 0 && total.calls_before === 0)
      notes.push(...(await explainEmptyBefore(chosen.selection, compared, context)));

    notes.push(
      ...sentencesOf(answer.leftOut.filter(({ code }) => !saidElsewhere.has(code))),
      ...sentencesOf(answer.notes),
      ...origin.notes,
    );

    if (source.accounts.length > 1 && addsUpCallers(answer)) notes.push(callersOfAccounts);
    if ((question.groupBy ?? []).some(isTimeGroup)) {
      // Numbers of all time are about the days of annotations only where they are drawn along time.
      const { from, to } = chosen.scope;
      if (from === null && to === null) notes.push(...annotationNotes({ from, to }, context));
      notes.push(
        period.timeZone === null
          ? 'Days and hours are as sent; the API names no time zone.'
          : `Days and hours are in ${period.timeZone}.`,
      );
    }

    let before = '';
    if (compared !== null) {
      const when = periodText(compared.from, compared.to);
      const past = total.calls_before ?? null;
      if (args.explain !== true) before = `Compared with the time ${when}.`;
      else if (past === null) before = `Not enough is known ${when} to say what changed.`;
      else before = `${formatCount(Number(past))} ${when}.`;
    }

    const counted = compared === null ? chosen.scope : { ...chosen.scope, ...period };
    const scope = scopeSentence(calls, counted, {
      extensionsLeftOut: extensions.leftOut,
      asOf,
    });
    const said = `${incomplete} ${scope} ${before}`.trim();
    const budget = folder === null ? context.budget : Number.POSITIVE_INFINITY;
    const table = args.explain
      ? await changeOf(question, said, notes, context)
      : tableOf(answer, said, notes, asOf, budget, context);
    const { groups, notes: all, _meta, ...shown } = table;
    const result = { ...shown, calls, groups, complete: without.length === 0, notes: all, _meta };
    return folder === null ? result : writeRows(name, folder, result, all);
  },
});

const callersOfAccounts =
  'Callers cannot be matched between accounts: who calls two of them is counted in each.';

/** Does an answer count callers over several accounts? */
const addsUpCallers = ({ columns }: Answer): boolean =>
  columns.some(({ unit }) => unit === 'callers') &&
  !columns.some(({ name, kind }) => name === 'account' && kind === 'group');

/** Sentences on zones, extensions and groups have their place in the summary. */
const saidElsewhere = new Set(['extensions', 'website', 'having', 'top_per', 'limit']);

/** The groups of an answer, as many as fit. */
function tableOf(
  answer: Answer,
  said: string,
  notes: readonly string[],
  asOf: string,
  budget: number,
  context: ToolContext,
) {
  const columns = answer.columns.map((column) => column.name);
  const groups = answer.columns.filter(({ kind }) => kind === 'group').length;
  const specs = columns.slice(0, groups).map((column) => shownAs(context.fields, column));
  const rows = answer.rows.map((row) =>
    columns.map((column, i) => cellOf(row[column] ?? null, specs[i])),
  );
  const totals = Object.entries(answer.total)
    .filter(([column]) => !column.startsWith('share') || column.startsWith('share('))
    .map(([column, value]) => [column, cellOf(value)] as const);
  const partial = partialOf(answer, asOf);
  const fieldsSaid = fieldNotes(
    specs.filter((spec) => spec !== undefined),
    context,
  );

  const result = (shown: number) => ({
    summary: groups === 0 ? said : `${said} ${groupsSentence(answer, shown)}`.trim(),
    columns,
    rows: rows.slice(0, shown),
    ...(groups === 0 ? {} : { totals: Object.fromEntries(totals) }),
    ...(partial.length === 0 ? {} : { partial: Object.fromEntries(partial) }),
    groups: answer.groups,
    notes: [...new Set([...notes, ...fieldsSaid])],
  });

  const words = estimateTokens(JSON.stringify(result(0))) + 100;
  return {
    ...result(rows.length === 0 ? 0 : countThatFits(rows, [], budget - words)),
    // For the page that shows it.
    _meta: { columns: answer.columns.map(({ meaning: _, ...column }) => column) },
  };
}

/**
 * The days, weeks or months that the period does not cover whole, with how much there is: nobody
 * takes the last one for a drop.
 */
function partialOf(answer: Answer, asOf: string): (readonly [string, string])[] {
  const { columns, rows } = answer;
  const { timeZone } = answer.period;
  const read = Date.parse(asOf);
  const until =
    timeZone === null || Number.isNaN(read) ? null : formatNaive(naiveAt(read, timeZone));
  const times = columns.filter(({ kind, unit }) => kind === 'group' && unit === 'time');
  const partial: (readonly [string, string])[] = [];
  for (const { name } of times)
    for (const row of rows) {
      const value = String(row[name] ?? '');
      const part = partOfBucket(name, value, covered(answer, until));
      if (part !== null) partial.push([value, part]);
    }

  return partial;
}

/** Shares and rates to four places, other numbers to two: more would only cost tokens. */
function cellOf(value: AnswerValue, spec?: FieldSpec): Cell {
  if (typeof value === 'boolean') return String(value);
  if (spec !== undefined) return showValue(spec, value, keyTextLimit);
  if (typeof value !== 'number' || Number.isInteger(value)) return value === '' ? null : value;
  return Number(value.toFixed(Math.abs(value) < 1 ? 4 : 2));
}

/** Says how many groups there are and what the hidden ones hold. */
function groupsSentence({ groups, rows, calls, columns, leftOut }: Answer, shown: number): string {
  const left = (code: string): number => leftOut.find((each) => each.code === code)?.count ?? 0;
  const having = left('having');
  const topPer = left('top_per');
  const all = groups + having;
  if (all === 0) return '';
  const total = formatCounted(all, 'group');
  if (shown === all) return `${total}, all shown.`;
  const met = groups - topPer;
  const meets = groups === 1 ? 'meets' : 'meet';
  const parts = [
    ...(having > 0 ? [`${formatCount(groups)} ${meets} having`] : []),
    ...(topPer > 0 ? [`top_per leaves out ${formatCount(topPer)}`] : []),
    ...(shown < met ? [`the first ${formatCount(shown)} are shown`] : []),
  ];
  if (calls > 0 && columns.some((column) => column.name === 'calls')) {
    const others = rows.slice(0, shown).reduce((rest, row) => rest - Number(row.calls ?? 0), calls);
    parts.push(
      `the others have ${formatCounted(others, 'call')} (${Math.round((others / calls) * 100)}%)`,
    );
  }

  let more = '';
  if (shown < rows.length) more = ' More do not fit: narrow the question.';
  else if (shown < met) more = ' A higher limit shows more.';
  return `${total}; ${parts.join(', ')}.${more}`;
}

type Args = z.infer<typeof input> & OutcomeArguments;

/** The question of a call. Throws an error that says what is wrong and the nearest right thing. */
function questionOf(
  args: Args,
  { selection }: Chosen,
  { spend, outcomes }: Pick<Question, 'spend' | 'outcomes'>,
  context: ToolContext,
) {
  const { group_by: groupBy = [], measures, having, order, limit, top_per: topPer, compare } = args;
  const isTime = groupBy.some(isTimeGroup);
  const usual = groupBy.length === 0 ? ['calls'] : ['calls', 'share'];
  const { period, from, to } = args;
  const question: Question = {
    ...selection,
    // What words such as 28d compare is more than their two ends.
    ...(compare === undefined ? {} : { period, from, to }),
    groupBy,
    having,
    order,
    topPer,
    measures: measures ?? (outcomes === undefined ? usual : usualOfOutcomes),
    limit: limit ?? (isTime ? usualTimeLimit : usualLimit),
    compare: compare && comparedWith(compare),
    spend,
    outcomes,
    // Records were masked before.
    personal: 'show',
  };
  const plan = planQuestion(question, { now: context.clock.now(), version: context.version });
  if (outcomes !== undefined) refusePerCaller(plan, question, context);
  return {
    question,
    said: [
      ...plan.measured.flatMap((condition) => refusePersonal(condition, context)),
      ...refuseDistinct([measures, having, order].join(), context),
    ],
  };
}

/** How agents write what to compare with. */
function comparedWith(text: string): string {
  const word = text.trim().toLowerCase();
  if (word.startsWith('prev')) return 'previous';
  return word === 'last_year' || word.startsWith('year_')
    ? 'year'
    : word.replace(/^(\S+),(\S+)$/, '$1..$2');
}

/** What was spent: files of the operator by their names, or amounts of groups. */
async function spendIn(
  list: readonly string[],
  columns: string | null,
  { spend }: ToolContext,
): Promise<Question['spend']> {
  const named = list.filter((entry) => spend.names.includes(entry.trim()));
  if (named.length === 0 || named.length < list.length) return amountsIn(list, spend.names);
  return spend.read(
    named.map((name) => name.trim()),
    columns,
  );
}

/** What files of the operator say, or what is wrong with one of them. */
async function fromFiles<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    if (!CallsError.is(error)) throw error;
    throw invalidQuestion(`The operator's file cannot be used: ${error.message}`);
  }
}

function amountsIn(list: readonly string[], names: readonly string[]): Record<string, number> {
  const known = names.length === 0 ? '' : `, or name what the operator knows: ${names.join(', ')}`;
  return Object.fromEntries(
    list.map((entry) => {
      const [, group = '', amount] =
        /^(.*)[=:]\s*\D{0,2}(\d[\d,]*(?:\.\d+)?)\s*$/s.exec(entry) ?? [];
      if (amount === undefined)
        throw invalidQuestion(
          `spend has "${entry.slice(0, 60)}": write each entry as "Brand=1200.50"${known}.`,
        );

      // Names are given as answers show them, with the marks around a visitor's text.
      return [group.trim().replace(/^«|»$/g, ''), Number(amount.replaceAll(',', ''))];
    }),
  );
}

/** What usually explains a change; between several accounts also the account. */
const dimensions =
  'channel ppc_campaign ppc_keywords landing_page referrer phone_label vt_device state weekday hour account'.split(
    ' ',
  );
const mostRows = 12;

/**
 * The groups that changed most between two periods: the same comparison by everything that usually
 * explains it. Of periods of different length the change per day counts.
 */
async function changeOf(
  question: Question,
  said: string,
  notes: readonly string[],
  context: ToolContext,
) {
  const none = {
    having: undefined,
    order: undefined,
    topPer: undefined,
    spend: undefined,
    outcomes: undefined,
  };
  const asked = dimensions.filter((by) => by !== 'account' || context.source.accounts.length > 1);
  const { answers } = await context.source.analyze(
    asked.map((by) => ({
      ...question,
      ...none,
      groupBy: [by],
      measures: ['calls', 'per_day'],
      limit: 5000,
    })),
    context,
  );
  const { total = {}, columns: known = [] } = answers[0] ?? {};
  const isPerDay = known.some(({ kind }) => kind === 'change_per_day');
  const change = changeIn(total, isPerDay);
  const whole = change(Number(total.calls), Number(total.calls_before));
  const changes = answers.flatMap(({ rows }, i) => {
    const by = asked[i] ?? '';
    const spec = findField(context.fields, by);
    const found = rows.map((row) => {
      const calls = Number(row.calls ?? 0);
      const before = Number(row.calls_before ?? 0);
      const percent = row.calls_change_percent ?? null;
      const value = cellOf(row[by] ?? null, spec);
      return { by, value, calls, before, percent, change: change(calls, before) };
    });

    // What all calls have in both periods explains nothing. A group of one field moves with those
    // of others: the largest of each come first.
    const moved = found.filter(
      (each) =>
        each.change !== 0 && (each.calls !== total.calls || each.before !== total.calls_before),
    );
    return moved.sort((a, b) => Math.abs(b.change) - Math.abs(a.change)).slice(0, 3);
  });
  const hasPast = total.calls_before !== null;
  const rows = (hasPast ? changes : [])
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
    .slice(0, mostRows);
  const [first] = rows;
  let largest = 'No group changed.';
  if (first !== undefined) {
    const { by, value, calls, before } = first;
    const part =
      whole === 0 ? '' : ` (${Math.round((first.change / whole) * 100)}% of the whole change)`;
    largest = `The largest change: ${by} ${value ?? '(none)'}, from ${formatCount(before)} to ${formatCount(calls)}${part}.`;
  }

  const columns = [
    { name: 'by', kind: 'group', unit: 'value' },
    { name: 'value', kind: 'group', unit: 'value' },
    ...known.filter(({ name }) => /^calls(?:_|$)/.test(name)),
  ];
  return {
    summary: hasPast
      ? `${said} ${largest} Groups of different fields overlap: do not add them up.`
      : said,
    columns: columns.map(({ name }) => name),
    rows: rows.map(({ by, value, calls, before, percent, change }) => [
      by,
      value,
      calls,
      before,
      calls - before,
      cellOf(percent),
      ...(isPerDay ? [cellOf(change)] : []),
    ]),
    groups: rows.length,
    notes,
    _meta: {
      columns: columns.map(({ name, kind, unit }) => ({
        name,
        kind,
        unit,
        better: null,
        addsUp: kind !== 'group',
      })),
    },
  };
}

/**
 * How much calls have changed; of periods of different length by the days of both, which all groups
 * share: a weekday has fewer days of its own.
 */
function changeIn(
  { calls, calls_before: before, per_day: rate, per_day_before: rateBefore }: Answer['total'],
  isPerDay: boolean,
): (calls: number, before: number) => number {
  const days = Number(calls) / Number(rate);
  const daysBefore = Number(before) / Number(rateBefore);
  if (!isPerDay || !(days > 0) || !(daysBefore > 0)) return (now, past) => now - past;
  return (now, past) => now / days - past / daysBefore;
}
