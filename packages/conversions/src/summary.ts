import { formatCount, formatCounted } from '@call-attribution/core/errors';
import { type Duration, day, durationMillis, parseTime, second } from '@call-attribution/core/time';
import { type CallChange, uncorrected } from './changes.ts';
import type { ConversionRules } from './conversion.ts';
import { DeliveryError } from './ledger/errors.ts';
import { type Correction, correctionTexts, type LeftOutReason, reasonTexts } from './reasons.ts';
import type { Tool } from './sheet-format.ts';
import { labelOf } from './value-rules.ts';

/** How many calls count, what they are worth, and why the others do not count. */
export interface Summary {
  /** All calls that were judged: `rows` and those left out. */
  readonly calls: number;
  /** Calls that count as conversions, whether or not the tool has them. */
  readonly rows: number;
  /** Sum of the values of each currency, null where a value names none. */
  readonly values: ReadonlyMap<string | null, number>;
  /** Conversions with a talk of less than 30 seconds. */
  readonly short: number;
  /** Calls that were read with v2 alone, which does not have all fields that decide. */
  readonly ofV2: number;
  /** How many calls are left out for each reason, the most frequent first. */
  readonly leftOut: ReadonlyMap<LeftOutReason, number>;
  /** How many changes there are to send, of each kind. */
  readonly changes: Readonly<Record<'add' | 'restate' | 'retract', number>>;
  /** How many conversions the tool has as they are now. */
  readonly unchanged: number;
  /** How many of these calls the tool has as conversions, whether or not as they are now. */
  readonly held: number;
  /** How many calls each rule of the values has decided, by its name or condition. */
  readonly byRule: ReadonlyMap<string, number>;
  /** From the first call to the last one, in days. */
  readonly days: number;
  /** How many conversions are taken back for each reason, the most frequent first. */
  readonly retracted: ReadonlyMap<LeftOutReason | Correction, number>;
  /** Calls whose conversion the tool has, and where it takes no correction. */
  readonly uncorrected: readonly { readonly sid: string; readonly what: Correction }[];
  /** Session ids of calls of which nobody knows whether the tool has them. */
  readonly uncertain: readonly string[];
}

/** Seconds of talk below which the summary calls a conversion short. */
const shortTalk = 30;

/** Counts changes. Each of its functions may be passed on by itself. */
export interface Tally {
  /** Counts one. */
  readonly add: (change: CallChange) => void;
  /** What there was so far. */
  readonly summary: () => Summary;
}

/**
 * Counts changes as they pass.
 *
 * @example
 * const tally = createTally();
 * for await (const change of conversions(calls, rules, format)) tally.add(change);
 * for (const line of summaryLines(tally.summary(), format, rules)) console.log(line);
 */
export function createTally(): Tally {
  let rows = 0;
  let short = 0;
  let ofV2 = 0;
  let unchanged = 0;
  let held = 0;
  const values = new Map<string | null, number>();
  const leftOut = new Map<LeftOutReason, number>();
  const retracted = new Map<LeftOutReason | Correction, number>();
  const byRule = new Map<string, number>();
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  const changes = { add: 0, restate: 0, retract: 0 };
  const wrong: Summary['uncorrected'][number][] = [];
  const uncertain: string[] = [];

  const countCall = ({ call, conversion, why }: CallChange): void => {
    if (call !== null && !Object.hasOwn(call, 'ppc_status')) ofV2 += 1;
    const at = parseTime(String(call?.date_added))?.millis;
    if (at !== undefined) {
      first = Math.min(first, at);
      last = Math.max(last, at);
    }

    if (conversion === null) {
      countUnder(leftOut, why as LeftOutReason);
      return;
    }

    rows += 1;
    if (conversion.rule !== null) countUnder(byRule, conversion.rule);
    if (conversion.talkSeconds < shortTalk) short += 1;
    const { value, currency } = conversion;
    if (value !== null) values.set(currency, (values.get(currency) ?? 0) + value);
  };

  return {
    add(change) {
      const { kind, why, call, entry } = change;
      const sid = String(call?.sid ?? entry?.sid);
      const what = uncorrected(change);
      if (kind !== 'left-out') changes[kind] += 1;
      if (isHeld(change)) held += 1;
      if (kind === 'retract' && why !== null) countUnder(retracted, why);
      if (why === 'sent_before') unchanged += 1;
      if (why === 'uncertain') uncertain.push(sid);
      if (what !== null) wrong.push({ sid, what });

      // The new conversion of the same call follows, and counts it.
      if (kind !== 'retract' || why !== 'click_changed') countCall(change);
    },
    summary() {
      const calls = rows + [...leftOut.values()].reduce((sum, count) => sum + count, 0);
      return {
        calls,
        rows,
        values: new Map(values),
        short,
        ofV2,
        leftOut: frequentFirst(leftOut),
        changes: { ...changes },
        unchanged,
        held,
        byRule: frequentFirst(byRule),
        days: Math.max(0, last - first) / day,
        retracted: frequentFirst(retracted),
        uncorrected: wrong,
        uncertain,
      };
    },
  };
}

/** Does the tool have a conversion of the call, which was not taken back before? */
const isHeld = ({ kind, entry, why }: CallChange): boolean =>
  kind === 'retract' ||
  (kind === 'restate' && why === 'value_changed') ||
  (kind === 'left-out' && entry !== null && entry.action !== 'retract');

function countUnder<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

const frequentFirst = <K>(counts: ReadonlyMap<K, number>): ReadonlyMap<K, number> =>
  new Map([...counts].sort(([, a], [, b]) => b - a));

/**
 * A run that takes back more than 20 and more than 5 % of what its ledger has of these calls is more
 * likely a mistake in the rules than in the calls, and most tools ignore what was taken back once.
 */
const manyRetracted = { count: 20, share: 0.05 };

/**
 * Refuses a run that would take back much of what was uploaded. Call it before anything is written
 * or sent, unless somebody has looked at it and allowed it.
 *
 * @throws {DeliveryError} `retracts_much`, with the reasons.
 * @example
 * const tally = createTally();
 * const changes = await changesToSend(conversions(calls, rules, format, ledger.delivered('ads')), tally.add);
 * checkRetractions(tally.summary());
 */
export function checkRetractions({
  changes: { retract },
  held,
  retracted,
}: Pick<Summary, 'changes' | 'held' | 'retracted'>): void {
  if (retract <= manyRetracted.count || retract <= manyRetracted.share * held) return;
  const texts = { ...reasonTexts, ...correctionTexts };
  const reasons = [...retracted].map(
    ([why, count]) => `${formatCount(count)} ${why} (${texts[why]})`,
  );
  throw new DeliveryError(
    'retracts_much',
    `This run would take back ${formatCount(retract)} of ${formatCount(held)} conversions that were uploaded: ${reasons.join(', ')}. Nothing was written or sent.`,
  );
}

/**
 * A summary as lines for people: what the conversions are worth, how many are short, which rules
 * decided, and the calls that are left out by reason.
 *
 * @example
 * for (const line of summaryLines(tally.summary(), format, rules)) console.log(line);
 */
export function summaryLines(
  summary: Pick<
    Summary,
    'calls' | 'rows' | 'values' | 'short' | 'ofV2' | 'leftOut' | 'byRule' | 'days'
  >,
  { accepts }: Tool,
  rules: ConversionRules,
): string[] {
  const { calls, rows, values, short, ofV2, leftOut } = summary;
  const without = calls - rows;
  const isOfCalls = rules.outcomes === undefined;
  const sums = Array.from(values, ([currency, sum]) =>
    [amount.format(sum), currency ?? []].flat().join(' '),
  );
  const talk = durationMillis(rules.minTalk ?? accepts.minTalk, 'minTalk') / second;
  const minTalk = `${talk} s${rules.minTalk === undefined ? ' (default)' : ''}`;
  const window = rules.clickWindow ?? accepts.clickWindow;
  const noun = isOfCalls ? 'call' : 'outcome';
  const whatCounts: string[] = [];
  if (isOfCalls) {
    whatCounts.push(`minimum talk time ${minTalk}`);
    whatCounts.push(`calls nobody answered ${rules.unanswered ? 'count' : 'do not count'}`);
  } else whatCounts.push('the last call of the caller before each outcome, whatever the talk was');

  if (window !== null) whatCounts.push(`clicks of at most ${daysOf(window)} days`);
  if (isOfCalls && rules.firstCallOnly) whatCounts.push('only the first call of a caller');
  if (isOfCalls && rules.oncePerCaller !== undefined)
    whatCounts.push(`one call of a caller in ${daysOf(rules.oncePerCaller)} days`);

  return [
    [
      sums.length === 0 ? 'no values' : `worth ${sums.join(' and ')}`,
      ...(isOfCalls && (short > 0 || talk < shortTalk)
        ? [`${share(short, rows)} talked for less than ${shortTalk} s`]
        : []),
    ].join('; '),
    whatCounts.join('; '),
    ...(ofV2 === 0 ? [] : [`${share(ofV2, calls)} were read with v2, ${v2Lacks}`]),
    ...unusedRules(summary, rules),
    ...(without > 0 ? [`left out: ${formatCounted(without, noun)}`] : []),
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

/** So many calls or days are enough to say that a rule never applied. */
const enough = { calls: 200, days: 30 };

/** The rules that decided nothing, where there were enough calls to notice. */
function unusedRules(
  { calls, days, byRule }: Pick<Summary, 'calls' | 'days' | 'byRule'>,
  { value, outcomes }: ConversionRules,
): string[] {
  if (
    typeof value !== 'object' ||
    outcomes !== undefined ||
    (calls < enough.calls && days < enough.days)
  )
    return [];
  const unused = value.rules.map(labelOf).filter((label) => !byRule.has(label));
  return unused.map(
    (label) =>
      `the rule ${JSON.stringify(label)} applied to none of ${formatCounted(calls, 'call')}`,
  );
}

/** What was uploaded and cannot be corrected, counted by what has changed. */
export function uncorrectedLines({ uncorrected }: Pick<Summary, 'uncorrected'>): string[] {
  const counts = new Map<Correction, number>();
  for (const { what } of uncorrected) counts.set(what, (counts.get(what) ?? 0) + 1);
  return counted(counts, correctionTexts);
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
