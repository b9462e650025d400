import { formatNaive } from '@call-attribution/core/time';
import { planQuestion, type Question } from '@call-attribution/questions';
import { measureForms } from '@call-attribution/questions/measures';
import * as z from 'zod';
import { refusePersonal } from '../arguments/personal.ts';
import { type Chosen, selectionShape } from '../arguments/selection.ts';
import { fieldGroups, findField, selectFields } from '../fields/select.ts';
import { ToolError } from '../text/failures.ts';
import { rowsOfFile, toFileShape } from './to-file.ts';
import type { ToolContext } from './tool.ts';

const usualLimit = 20;
/** Groups of time are shown whole: a month of days, a day of hours. */
const usualTimeLimit = 100;
const timeGroups = ['hour', 'day', 'date', 'week', 'weekday', 'month'];

/** Is this group a time? */
export const isTimeGroup = (group: string): boolean => timeGroups.includes(group.trim().toLowerCase());

/** What can be asked. */
export const input = z.object({
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

export type Args = z.infer<typeof input>;

/** The question of a call. Throws an error that says what is wrong and the nearest right thing. */
export function questionOf(args: Args, { selection }: Chosen, context: ToolContext): Question {
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
