import type { FieldSpec } from '@call-attribution/core';
import { day, formatNaive } from '@call-attribution/core/time';
import { type AnswerValue, machineZone, planCalls } from '@call-attribution/questions';
import { formatCount } from '@call-attribution/questions/chart';
import { type Measure, measureForm, measures } from '@call-attribution/questions/measures';
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
import { fieldNotes, minuteOf, withoutSentence } from '../text/words.ts';
import { countThatFits } from './table.ts';
import { type ToolContext, tableOutput, tool } from './tool.ts';

/** The fields that most questions are about. */
const usual =
  'channel ppc_campaign ppc_adgroup ppc_keywords ppc_match_type ppc_status ppc_gclid referrer landing_page search_term talk_minutes phone_label ani city state rank activity_type_id vt_device browser'.split(
    ' ',
  );

const everyCall = { calls: 'all', personal: 'show' } as const;

const missing = ({ spend, outcomes }: Pick<ToolContext, 'spend' | 'outcomes'>): string =>
  `Not in the data: ${outcomes.names.length > 0 ? '' : 'revenue, sales and bookings, '}the agents who answered, recordings as text, transcripts, topics, spam ratings, ${spend.names.length > 0 ? '' : 'ad spend, '}impressions and clicks without a call.`;

/**
 * Says what there is: accounts, period, freshness, fields with their meaning and values; and what
 * there is not.
 */
export const describeData = tool({
  name: 'describe_data',
  title: 'Describe the data',
  description:
    'First call when unsure: period, freshness, time zone, today, fields with meaning, nulls and top values; what measures mean; what the data cannot tell.',
  input: z
    .object({
      fields: z
        .array(z.string().max(60))
        .max(100)
        .describe('Names of fields or measures; groups, measures or all; default the most used'),
    })
    .partial(),
  output: z.object({ ...tableOutput, more_fields: z.array(z.string()) }).partial(),
  answers: 'What there is',
  async run({ fields }, context) {
    const { source, reveal, words } = context;
    const available = fieldsOf(context.fields, context.version);
    const { specs, derived, measured, defined } =
      fields === undefined
        ? {
            specs: available.filter((spec) => usual.includes(spec.name)),
            derived: [],
            measured: [],
            defined: [...words.shown.keys()].slice(0, 20),
          }
        : askedFor(fields, context);
    const described = [
      ...specs.map((spec) => ({
        name: spec.name,
        meaning: meaningOf(spec),
        spec,
        isCounted: true,
        isTelling: agentsSee(spec, reveal) === 'shown',
      })),
      ...derived.map(({ name: field, meaning, otherCalls }) => ({
        name: field,
        meaning,
        spec: shownAs(context.fields, field),
        isCounted: otherCalls === 'none',
        isTelling: true,
      })),
    ];

    // What other calls of a caller say is not read.
    const counted = described.filter(({ isCounted }) => isCounted);
    const definedHere = defined.filter((where) => {
      const { definitions } = words;
      return planCalls({ where, definitions }).otherCalls === 'none';
    });
    const lastWeeks = `${formatNaive(context.now() - 28 * day).slice(0, 10)} 00:00:00`;
    const { total } = await source.count({ calls: 'all' }, context);
    const { answers, since, ...origin } = await source.newest(
      lastWeeks,
      [
        ...counted.map(({ name: field }) => ({
          ...everyCall,
          groupBy: [field],
          measures: ['calls', `without(${field}) as nothing`],
          order: 'calls desc',
          limit: 4,
        })),
        ...definedHere.map((where) => ({ ...everyCall, where, definitions: words.definitions })),
        // Of how many calls all of it is.
        everyCall,
      ],
      context,
    );
    const rows = described.map(({ name: field, meaning, spec, isTelling }) => {
      const answer = answers[counted.findIndex((each) => each.name === field)];
      if (answer === undefined) return [field, meaning, null, ''];
      const share = answer.calls === 0 ? null : Number(answer.total.nothing) / answer.calls;
      const values = answer.rows
        .map((row) => ({
          value: shownValue(spec, row[field] ?? null),
          calls: Number(row.calls),
        }))
        .filter(({ value, calls }) => value !== null && calls > 0);

      // Values that occur once say nothing.
      const top = isTelling && (values[0]?.calls ?? 0) > 1 ? values.slice(0, 3) : [];
      return [
        field,
        meaning,
        share === null ? null : `${Math.round(share * 1000) / 10}%`,
        top.map(({ value, calls }) => `${value} ${calls}`).join(', '),
      ];
    });
    for (const each of defined) {
      const place = definedHere.indexOf(each);
      const calls = place < 0 ? undefined : answers[counted.length + place]?.calls;
      const text = `Definition of the operator: ${words.shown.get(each)}`;
      const isExcluded = each === words.exclude ? '. Its calls do not count.' : '';
      rows.push([each, `${text}${isExcluded}`, null, calls === undefined ? '' : `true ${calls}`]);
    }
    rows.push(...measured.map((each) => [measureForm(each), meaningOfMeasure(each), null, '']));
    const columns = ['field', 'meaning', 'no value', 'most frequent'];
    const shown = rows.slice(0, countThatFits(rows, columns, context.budget - 900));
    const inTable = new Set(shown.map(([field]) => field));
    const others = [...available, ...derivedFields]
      .map((field) => field.name)
      .filter((field) => !inTable.has(field));
    const last = origin.last === null ? '' : `, the last ${origin.last}`;
    const basis =
      since === null
        ? 'all calls'
        : `the ${formatCount(answers.at(-1)?.calls ?? 0)} calls since ${since.slice(0, 10)}`;
    const today = formatNaive(context.now()).slice(0, 10);
    const zone =
      context.timeZone === undefined
        ? `${machineZone()}; the time zone of the calls is unknown`
        : `${context.timeZone}, the time zone of the calls`;
    return {
      summary:
        `${withoutSentence(origin.without)} ${formatCount(total)} calls${last}, call extensions included; as of ${minuteOf(origin.asOf)}. Today is ${today} in ${zone}. Shares and values: ${basis}. ${missing(context)}`.trim(),
      columns,
      rows: shown,
      ...(fields === undefined && others.length > 0 ? { more_fields: others } : {}),
      notes: [
        ...origin.notes,
        ...fieldNotes(
          specs.filter((spec) => inTable.has(spec.name)),
          context,
        ),
      ],
    };
  },
});

function shownValue(spec: FieldSpec | undefined, value: AnswerValue): Cell {
  if (spec !== undefined) return showValue(spec, value, 60);
  return typeof value === 'number' ? Number(value.toFixed(2)) : (value as Cell);
}

/** What is described: of calls, of what follows from them, of measures and of definitions. */
function askedFor(all: readonly string[], { fields, version, words }: ToolContext) {
  const named = (each: string): readonly string[] => {
    if (toName(each) === 'definitions') return [...words.shown.keys()];
    return words.shown.has(toName(each)) ? [toName(each)] : [];
  };
  const given = all.filter((each) => named(each).length === 0);
  const isOfCalls = (each: string) =>
    fieldGroups.includes(toName(each)) || findField(fields, each) !== undefined;
  const isOfMeasures = (each: string) =>
    !isOfCalls(each) && findDerived(each) === undefined && measuresCalled(each).length > 0;
  const measured = new Set(given.filter(isOfMeasures).flatMap(measuresCalled));
  const names = given.filter((each) => !isOfMeasures(each));
  const derived = names
    .filter((given) => !isOfCalls(given))
    .map(findDerived)
    .filter((field) => field !== undefined);
  const others = names.filter((given) => isOfCalls(given) || findDerived(given) === undefined);

  // A selection begins with the sid, also where nobody asked for it.
  const unasked = others.includes('sid') ? 0 : 1;
  const specs = others.length === 0 ? [] : selectFields(fields, version, others).slice(unasked);
  return {
    specs,
    derived: names.some((each) => toName(each) === 'all') ? derivedFields : [...new Set(derived)],
    measured: [...measured],
    defined: [...new Set(all.flatMap(named))],
  };
}

/** The measures that a name means: all of them, or those of one name, such as `share(condition)`. */
function measuresCalled(given: string): readonly Measure[] {
  const name = given
    .trim()
    .toLowerCase()
    .replace(/\s*\(.*$/s, '');
  return name === 'measures' ? measures : measures.filter((each) => each.name === name);
}

const meaningOfMeasure = ({ meaning, argument }: Measure): string =>
  meaning.replaceAll('{}', argument === 'number' ? 'the field' : `the ${argument}`);

function meaningOf({ meaning, values, valueMeanings, otherNames }: FieldSpec): string {
  const codes = valueMeanings?.map((text, i) => `${values?.[i]} ${text}`).join(', ');
  const names = otherNames === undefined ? '' : ` Also: ${otherNames.join(', ')}.`;
  return `${meaning}${codes === undefined ? '' : ` ${codes}.`}${names}`;
}
