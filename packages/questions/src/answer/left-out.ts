import { formatCounted } from '@call-attribution/core/errors';
import { wordList } from '../conditions/condition.ts';
import type { AnswerValue, LeftOut } from '../question/answer.ts';

/** What an answer leaves out, as a sentence. */
export function explainLeftOut(code: LeftOut['code'], count: number, detail = ''): LeftOut {
  const calls = formatCounted(count, 'call');
  const is = count === 1 ? 'is' : 'are';
  const sentences: Readonly<Record<LeftOut['code'], string>> = {
    no_time: `${calls} without a time that can be read ${is} in no period.`,
    excluded: excludedSentence(detail, count),
    extensions: extensionsSentence({ counted: 0, leftOut: count }),
    website: `${calls} from visits of a website ${is} not counted.`,
    no_talk_minutes: `${calls} without talk minutes that can be read ${is} not in the measures of talk and missed calls.`,
    no_caller_number: `${calls} without a caller number ${is} not in the measures of callers.`,
    no_lag: `${calls} without a visit before the call ${is} not in the time from visit to call.`,
    having: `${formatCounted(count, 'group')} ${count === 1 ? 'does' : 'do'} not meet the condition on groups.`,
    top_per: `${formatCounted(count, 'group')} ${is} not shown, because topPer limits the rows of each ${detail}.`,
    limit: `${formatCounted(count, 'more group')} ${is} not shown; a higher limit shows more.`,
    empty_buckets: 'Empty stretches of time are not shown, because there would be too many rows.',
    spend_outside: `${formatCounted(count, 'amount')} of spend${detail} ${is} of days outside of the period.`,
    outcomes: detail,
  };
  return { code, count, message: sentences[code] };
}

/** How many calls a definition excludes; its name is null for those who do not see it. */
export const excludedSentence = (name: string | null, count: number): string =>
  `${name === null ? '' : `Without ${name}: `}${formatCounted(count, 'call')} ${count === 1 ? 'is' : 'are'} left out.`;

/**
 * The one sentence on call extensions, wherever calls are counted and numbers could differ: the API
 * leaves them out unless it is asked for them. Empty when there are none. `leftOut` is null where
 * nobody has counted them.
 */
export function extensionsSentence(
  { counted, leftOut }: { readonly counted: number; readonly leftOut: number | null },
  isForReaders = false,
): string {
  if (leftOut === null) return 'Calls through call extensions are left out.';
  if (leftOut > 0)
    return `${formatCounted(leftOut, 'call')} through call extensions ${leftOut === 1 ? 'is' : 'are'} left out.`;
  if (counted === 0) return '';
  const sentence = `${formatCounted(counted, 'call')} through call extensions ${counted === 1 ? 'is' : 'are'} counted`;
  return isForReaders ? `${sentence}.` : `${sentence}; the API leaves them out without inc_gce:1.`;
}

/** That the data begins within a period that is asked for. */
export const firstCallSentence = (first: string): string =>
  `The first call is from ${first}: nothing is known of the period before it.`;

/** That a negation leaves out calls without a value, where nobody counted how many. */
export const negationSentence = (fields: readonly string[]): string =>
  `Calls without ${wordList(fields)} are left out, since a negation is not true of them either: ${wordList(
    fields.map((name) => `(… OR ${name} IS NULL)`),
    'and',
  )} ${fields.length === 1 ? 'adds' : 'add'} them.`;

/** A value as text for people. Empty and missing look alike. */
export const shownValue = (value: AnswerValue | undefined): string =>
  value === null || value === undefined || value === '' ? '(none)' : String(value);
