import { formatCount, formatCounted } from '@call-attribution/core/errors';
import { type Duration, day, durationMillis, second } from '@call-attribution/core/time';
import type { ConversionRules } from './conversion.ts';
import type { Outcome } from './conversions.ts';
import { type Change, changeTexts, type LeftOutReason, reasonTexts } from './reasons.ts';
import type { Tool } from './sheet-format.ts';

/** How many calls count, what they are worth, and why the others do not count. */
export interface Summary {
  /** All calls that were judged: `rows` and those left out. */
  readonly calls: number;
  /** Calls that count as conversions. */
  readonly rows: number;
  /** Sum of the values; null when no conversion has a value. */
  readonly value: number | null;
  /** Conversions with a talk of less than 30 seconds. */
  readonly short: number;
  /** Calls that were read with v2 alone, which does not have all fields that decide. */
  readonly ofV2: number;
  /** How many calls are left out for each reason, the most frequent first. */
  readonly leftOut: ReadonlyMap<LeftOutReason, number>;
}

/** Seconds of talk below which the summary calls a conversion short. */
const shortTalk = 30;

/**
 * Counts outcomes as they pass.
 *
 * @example
 * const tally = createTally();
 * for await (const outcome of conversions(calls, rules, format)) tally.add(outcome);
 * for (const line of summaryLines(tally.summary(), format, rules)) console.log(line);
 */
export function createTally(): { add(outcome: Outcome): void; summary(): Summary } {
  let rows = 0;
  let short = 0;
  let ofV2 = 0;
  let value: number | null = null;
  const leftOut = new Map<LeftOutReason, number>();
  return {
    add(outcome) {
      if (!Object.hasOwn(outcome.call, 'ppc_status')) ofV2 += 1;
      if ('leftOut' in outcome) {
        leftOut.set(outcome.leftOut, (leftOut.get(outcome.leftOut) ?? 0) + 1);
        return;
      }

      rows += 1;
      if (outcome.conversion.talkSeconds < shortTalk) short += 1;
      if (outcome.conversion.value !== null) value = (value ?? 0) + outcome.conversion.value;
    },
    summary() {
      const sorted = [...leftOut].sort(([, a], [, b]) => b - a);
      const calls = rows + sorted.reduce((sum, [, count]) => sum + count, 0);
      return { calls, rows, value, short, ofV2, leftOut: new Map(sorted) };
    },
  };
}

/**
 * A summary as lines for people: what the conversions are worth, how many are short, which rules
 * decided, and the calls that are left out by reason.
 *
 * @example
 * for (const line of summaryLines(tally.summary(), format, rules)) console.log(line);
 */
export function summaryLines(
  summary: Summary,
  { accepts }: Tool,
  rules: ConversionRules,
): string[] {
  const { calls, rows, value, short, ofV2, leftOut } = summary;
  const without = calls - rows;
  const currency = rules.currency === undefined ? '' : ` ${rules.currency}`;
  const talk = durationMillis(rules.minTalk ?? accepts.minTalk, 'minTalk') / second;
  const minTalk = `${talk} s${rules.minTalk === undefined ? ' (default)' : ''}`;
  const window = rules.clickWindow ?? accepts.clickWindow;
  return [
    [
      value === null ? 'no values' : `worth ${amount.format(value)}${currency}`,
      ...(short > 0 || talk < shortTalk
        ? [`${share(short, rows)} talked for less than ${shortTalk} s`]
        : []),
    ].join('; '),
    [
      `minimum talk time ${minTalk}`,
      rules.unanswered ? 'calls nobody answered count' : 'calls nobody answered do not count',
      ...(window === null ? [] : [`clicks of at most ${daysOf(window)} days`]),
      ...(rules.firstCallOnly ? ['only the first call of a caller'] : []),
      ...(rules.oncePerCaller === undefined
        ? []
        : [`one call of a caller in ${daysOf(rules.oncePerCaller)} days`]),
    ].join('; '),
    ...(ofV2 === 0 ? [] : [`${share(ofV2, calls)} were read with v2, ${v2Lacks}`]),
    ...(without > 0 ? [`left out: ${formatCounted(without, 'call')}`] : []),
    ...counted(leftOut, reasonTexts),
  ];
}

const v2Lacks =
  'which has no ppc_status, ppc_gclid, landing_page and conversion_page: unfinished calls and calls from desktops are not held ' +
  'back, and click IDs may be missing; read the calls with v3';

const amount = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const daysOf = (span: Duration): number => durationMillis(span, 'span') / day;

/** What was uploaded and cannot be corrected by an upload, counted by what has changed. */
export function unadjustedLines(unadjusted: readonly { readonly change: Change }[]): string[] {
  const counts = new Map<Change, number>();
  for (const { change } of unadjusted) counts.set(change, (counts.get(change) ?? 0) + 1);
  return counted(counts, changeTexts);
}

function counted<K extends string>(
  counts: ReadonlyMap<K, number>,
  meanings: Readonly<Record<K, string>>,
): string[] {
  const width = Math.max(0, ...[...counts.values()].map((count) => formatCount(count).length));
  return [...counts].map(
    ([code, count]) => `  ${formatCount(count).padStart(width)}  ${code}: ${meanings[code]}`,
  );
}

function share(part: number, whole: number): string {
  return `${formatCount(part)} of ${formatCount(whole)} (${whole === 0 ? 0 : Math.round((100 * part) / whole)} %)`;
}
