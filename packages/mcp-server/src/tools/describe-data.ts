import type { FieldSpec } from '@call-attribution/core';
import { day, formatNaive } from '@call-attribution/core/time';
import {
  type AnswerValue,
  createAnswers,
  machineZone,
  type QuestionField,
} from '@call-attribution/questions';
import * as z from 'zod';
import {
  type Cell,
  derivedFields,
  fieldGroups,
  fieldsOf,
  findDerived,
  findField,
  selectFields,
  shownAs,
  showValue,
  toName,
} from '../fields.ts';
import { agentsSee } from '../privacy/mask.ts';
import { count, fieldNotes } from '../text/notes.ts';
import { minuteOf, withoutSentence } from '../text/summaries.ts';
import { countThatFits } from './table.ts';
import { type ToolContext, tool } from './tool.ts';

/** The fields that most questions are about. */
const usual = [
  'channel',
  'ppc_campaign',
  'ppc_adgroup',
  'ppc_keywords',
  'ppc_match_type',
  'ppc_status',
  'ppc_gclid',
  'referrer',
  'landing_page',
  'search_term',
  'talk_minutes',
  'phone_label',
  'ani',
  'city',
  'state',
  'rank',
  'activity_type_id',
  'vt_device',
  'browser',
];

const missing =
  'Not in the data: revenue, sales and bookings, the agents who answered, recordings as text, transcripts, topics, spam ratings, ad spend, impressions and clicks without a call.';

const name = 'describe_data';

/** Says what there is: accounts, period, freshness, fields with their meaning and values; and what there is not. */
export const describeData = tool({
  name,
  title: 'Describe the data',
  description:
    'First call when unsure: period, freshness, time zone, today, fields with meaning, nulls and top values; what the data cannot tell.',
  input: z.object({
    fields: z
      .array(z.string().max(60))
      .max(100)
      .optional()
      .describe('Names, groups or all; default the most used'),
  }),
  output: z.object({
    summary: z.string(),
    columns: z.array(z.string()).optional(),
    rows: z.array(z.array(z.any())).optional(),
    complete: z.boolean().optional(),
    more_fields: z.array(z.string()).optional(),
    notes: z.array(z.string()),
  }),
  answers: 'What there is',
  async run({ fields }, context) {
    const available = fieldsOf(context.fields, context.version);
    const { specs, derived } = fields === undefined ? usualOf(available) : askedFor(fields, context);
    const data = await factsOf(specs, derived, context);
    const rows = [
      ...specs.map((spec) => [spec.name, meaningOf(spec), ...data.facts(spec.name)]),
      ...derived.map((field) => [field.name, field.meaning, ...data.facts(field.name)]),
    ];
    const columns = ['field', 'meaning', 'no value', 'most frequent'];
    const shown = rows.slice(0, countThatFits(rows, columns, context.budget - 900));
    const inTable = new Set(shown.map(([name]) => name));
    const others = [...available, ...derivedFields]
      .map((field) => field.name)
      .filter((field) => !inTable.has(field));
    const incomplete = data.without.length === 0 ? '' : `${withoutSentence(data.without)} `;
    const last = data.last === null ? '' : `, the last ${data.last}`;
    return {
      summary: `${incomplete}${count(data.total)} calls${last}, call extensions included; as of ${minuteOf(data.asOf)}. ${todayText(context)} Shares and values: ${data.basis}. ${missing}`,
      columns,
      rows: shown,
      ...(fields === undefined && others.length > 0 ? { more_fields: others } : {}),
      notes: [
        ...data.notes,
        ...fieldNotes(
          specs.filter((spec) => inTable.has(spec.name)),
          context,
        ),
      ],
    };
  },
});

/** What a share or a list of values is made of. */
interface Tally {
  nulls: number;
  readonly values: Map<Cell, number>;
}

/** How often fields have no value, and their most frequent values: of all calls where they are there, else of the last weeks. */
async function factsOf(specs: readonly FieldSpec[], derived: readonly QuestionField[], context: ToolContext) {
  const { source, clock } = context;
  const tallies = new Map<string, Tally>(
    specs.map(({ name: field }) => [field, { nulls: 0, values: new Map() }]),
  );
  const own = derived.filter(({ needsSequence }) => !needsSequence);
  const running = createAnswers(
    own.map(({ name: field }) => ({
      groupBy: [field],
      measures: ['calls', `without(${field}) as nothing`],
      order: 'calls desc',
      limit: 4,
      calls: 'all',
      personal: 'show',
    })),
    { now: clock.now() },
  );
  const lastWeeks = `${formatNaive(context.now() - 28 * day).slice(0, 10)} 00:00:00`;
  const names = [...new Set([...specs.map(({ name: field }) => field), ...running.needs.fields])];
  const { total } = await source.count({ calls: 'all' }, context);
  const { calls, since, ...origin } = await source.newest(lastWeeks, names, context, (call, account) => {
    for (const spec of specs) {
      const tally = tallies.get(spec.name);
      const cell = showValue(spec, Reflect.get(call, spec.name), 60);
      if (tally === undefined) continue;
      if (cell === null) tally.nulls += 1;
      else tally.values.set(cell, (tally.values.get(cell) ?? 0) + 1);
    }
    running.add(call, account);
  });
  for (const [i, answer] of running.answers().entries()) {
    const { name: field = '' } = own[i] ?? {};
    const { rows, total: all } = answer;
    const spec = shownAs(context.fields, field);
    const values = rows.map((row) => [shownValue(spec, row[field] ?? null), Number(row.calls)] as const);
    tallies.set(field, {
      nulls: Number(all.nothing),
      values: new Map(values.filter(([cell, number]) => cell !== null && number > 0)),
    });
  }
  return {
    ...origin,
    total,
    basis: since === null ? 'all calls' : `the ${count(calls)} calls since ${since.slice(0, 10)}`,
    facts(field: string): readonly (string | null)[] {
      const { nulls, values } = tallies.get(field) ?? { nulls: null, values: new Map<Cell, number>() };
      const top = [...values].sort((a, b) => b[1] - a[1]).slice(0, 3);
      const isPersonal = specs.some(
        (spec) => spec.name === field && agentsSee(spec, context.reveal) !== 'shown',
      );
      // Values that occur once say nothing.
      const isTelling = !isPersonal && (top[0]?.[1] ?? 0) > 1;
      const share = calls === 0 || nulls === null ? null : nulls / calls;
      return [
        share === null ? null : `${Math.round(share * 1000) / 10}%`,
        isTelling ? top.map(([value, number]) => `${value} ${number}`).join(', ') : '',
      ];
    },
  };
}

function shownValue(spec: FieldSpec | undefined, value: AnswerValue): Cell {
  if (spec !== undefined) return showValue(spec, value, 60);
  if (typeof value === 'number') return Number(value.toFixed(2));
  return value === null ? null : String(value);
}

/** What is described. */
interface Asked {
  readonly specs: readonly FieldSpec[];
  readonly derived: readonly QuestionField[];
}

const usualOf = (available: readonly FieldSpec[]): Asked => ({
  specs: available.filter((spec) => usual.includes(spec.name)),
  derived: [],
});

function askedFor(names: readonly string[], { fields, version }: ToolContext): Asked {
  const isOfCalls = (given: string) =>
    fieldGroups.includes(toName(given)) || findField(fields, given) !== undefined;
  const derived = names.flatMap((given) => (isOfCalls(given) ? [] : (findDerived(given) ?? [])));
  const others = names.filter((given) => isOfCalls(given) || findDerived(given) === undefined);
  // A selection begins with the sid, also where nobody asked for it.
  const unasked = others.includes('sid') ? 0 : 1;
  const specs = others.length === 0 ? [] : selectFields(fields, version, others).slice(unasked);
  return {
    specs,
    derived: names.some((given) => toName(given) === 'all') ? derivedFields : [...new Set(derived)],
  };
}

function todayText(context: ToolContext): string {
  const { timeZone } = context;
  const today = formatNaive(context.now()).slice(0, 10);
  return timeZone === undefined
    ? `Today is ${today} in ${machineZone()}; the time zone of the calls is unknown.`
    : `Today is ${today} in ${timeZone}, the time zone of the calls.`;
}

function meaningOf({
  meaning,
  values,
  valueMeanings,
  otherNames,
}: ReturnType<typeof fieldsOf>[number]): string {
  const codes = valueMeanings?.map((text, i) => `${values?.[i]} ${text}`).join(', ');
  const names = otherNames === undefined ? '' : ` Also: ${otherNames.join(', ')}.`;
  return `${meaning}${codes === undefined ? '' : ` ${codes}.`}${names}`;
}
