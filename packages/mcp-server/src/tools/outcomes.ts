import type { Call } from '@call-attribution/core';
import { callerOf } from '@call-attribution/core/record';
import { parseDuration } from '@call-attribution/core/time';
import {
  fieldsOf,
  type Outcome,
  type Plan,
  parseCondition,
  type Question,
  usualWindow,
} from '@call-attribution/questions';
import * as z from 'zod';
import { findField } from '../fields.ts';
import type { MaskedCall } from '../privacy/mask.ts';
import { invalid, invalidQuestion, unknownName } from '../text/failures.ts';
import type { ToolContext } from './tool.ts';

/** The argument of `analyze_calls` where the operator has files of what calls became. */
export const outcomesShape = (names: readonly string[]) => ({
  outcomes: z
    .array(z.string().max(100))
    .optional()
    .describe(
      `What calls became: ${names.join(', ')}. Measures outcomes, revenue, revenue_per_call; with spend cost_per_outcome, return_on_ad_spend`,
    ),
});

/**
 * What a call says of outcomes; a report also says how long a call may lie before its outcome, and how
 * its files are read.
 */
export type OutcomeArguments = Partial<
  Record<'outcomes', readonly string[]> &
    Record<'outcome_window' | 'outcome_dates' | 'spend_columns', string>
>;

/** What is measured where nobody names measures. */
export const usualOfOutcomes = ['calls', 'outcomes', 'revenue', 'revenue_per_call'];

/** Outcomes as they are matched with masked calls: the number of each becomes its pseudonym. */
export const maskOutcomes = (
  all: readonly Outcome[],
  mask: (call: Call) => MaskedCall,
): readonly Outcome[] =>
  all.map((outcome) => {
    if (outcome.caller === null) return outcome;
    // The digits of a caller come after a 1.
    const ani = String(outcome.caller).slice(1);
    return { ...outcome, caller: callerOf(mask({ ani } as Call)) };
  });

/** What calls became, by the operator's names; undefined where nobody asks. */
export async function outcomesIn(
  { outcomes: given, outcome_window: typed, outcome_dates: dates }: OutcomeArguments,
  { outcomes, source }: ToolContext,
): Promise<Question['outcomes']> {
  if (given === undefined) return undefined;
  const names = given.map((name) => name.trim());
  const unknown = names.find((name) => !outcomes.names.includes(name));
  if (unknown !== undefined || names.length === 0)
    throw unknownName('The operator has no outcomes called', unknown ?? '', outcomes.names);
  if (source.accounts.length > 1)
    throw invalidQuestion(
      `outcomes belong to callers, who cannot be matched between accounts: ask about one account, such as account="${source.accounts[0]}".`,
    );
  const window = typed === undefined ? usualWindow : parseDuration(typed);
  if (!(window > 0))
    throw invalid(
      'invalid_report',
      'outcome-window of the report must be a duration such as 7d.',
      'Tell the user to correct the configuration file.',
    );
  return { all: await outcomes.read(names, dates ?? null), window };
}

const ofOneCall = ['sid', 'pid', 'super_id', 'ppc_gclid', 'click_id'];

/** Refuses a question that would say what became of the calls of one caller. */
export function refusePerCaller(
  { groups, measured }: Plan,
  { where }: Pick<Question, 'where'>,
  { words, fields }: ToolContext,
): void {
  const chosen = where === undefined ? null : parseCondition(where, words.definitions);
  const conditions = chosen?.ok ? [...measured, chosen.condition] : measured;
  const named = [
    ...groups.map(({ name }) => name),
    ...conditions.flatMap((condition) => [...fieldsOf(condition)]),
  ];
  const found = named.find((name) => {
    const { type = '', agents = 'shown' } = findField(fields, name) ?? {};
    return ofOneCall.includes(name) || type.startsWith('datetime') || agents !== 'shown';
  });
  if (found !== undefined)
    throw invalid(
      'hidden_field',
      `outcomes do not go with ${found}: what became of the calls of one caller is not told.`,
      'Group and choose by campaign, keyword, day and so on.',
    );
}
