import type { FieldSpec } from '@call-attribution/core';
import { formatNaive } from '@call-attribution/core/time';
import { machineZone, type QuestionField } from '@call-attribution/questions';
import * as z from 'zod';
import { derivedFields, findDerived } from '../fields/derived.ts';
import { fieldGroups, fieldsOf, findField, selectFields, toName } from '../fields/select.ts';
import { countThatFits } from '../results/table.ts';
import { count, fieldNotes } from '../text/notes.ts';
import { minuteOf, unfinishedSentence } from '../text/summaries.ts';
import { defineTool, readsApi, type ToolContext } from './tool.ts';

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
export const describeData = defineTool({
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
    columns: z.array(z.string()),
    rows: z.array(z.array(z.any())),
    more_fields: z.array(z.string()).optional(),
    notes: z.array(z.string()),
  }),
  annotations: readsApi,
  async run({ fields }, context) {
    const available = fieldsOf(context.fields, context.version);
    const { specs, derived } = fields === undefined ? usualOf(available) : askedFor(fields, context);
    const source = await context.source();
    const data = await source.describe(specs, derived, context);
    const meanings = new Map<string, string>([
      ...specs.map((spec) => [spec.name, meaningOf(spec)] as const),
      ...derived.map((field) => [field.name, field.meaning] as const),
    ]);
    const rows = data.fields.map(({ name: field, nulls, top }) => [
      field,
      meanings.get(field) ?? '',
      nulls === null ? null : `${Math.round(nulls * 1000) / 10}%`,
      top.map(([value, calls]) => `${value} ${calls}`).join(', '),
    ]);
    const columns = ['field', 'meaning', 'no value', 'most frequent'];
    const shown = rows.slice(0, countThatFits(rows, columns, context.budget - 900));
    const inTable = new Set(shown.map(([name]) => name));
    const others = [...available, ...derivedFields]
      .map((field) => field.name)
      .filter((field) => !inTable.has(field));
    const incomplete =
      data.unfinished === undefined ? '' : `${unfinishedSentence(data.unfinished, name, undefined)} `;
    return {
      summary: `${incomplete}${count(data.calls)} calls${data.first === null ? '' : `, the first ${data.first}, the last ${data.last}`}, call extensions included; as of ${minuteOf(data.asOf)}. ${todayText(context)} Shares and values: ${data.basis}. ${missing}`,
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
