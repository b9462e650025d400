import { createHash } from 'node:crypto';
import { type Call, callerOf } from '@call-attribution/core/record';
import { formatNaive, isIn, parseTime, second } from '@call-attribution/core/time';
import { matchOutcomes, type Outcome, type OutcomeMatch } from '@call-attribution/questions';
import { type CallChange, changesOf } from './changes.ts';
import {
  type Conversion,
  type ConversionRules,
  isDay,
  type Judged,
  judgeCall,
  type OutcomeRules,
  timeOfOutcome,
} from './conversion.ts';
import type { LedgerEntry, SeenRow } from './entry.ts';
import type { LeftOutReason } from './reasons.ts';
import type { RulesRead } from './rules-read.ts';
import type { Tool } from './sheet-format.ts';

/** What keys of outcomes begin with; those of calls are their session ids. */
const mark = 'outcome-';

/** Is an entry of a ledger that of an outcome, and not of a call? */
export const isOfOutcome = ({ key }: Pick<LedgerEntry, 'key'>): boolean => key.startsWith(mark);

/** Judges outcomes for a tool, once all calls have been seen. */
export interface OutcomeJudge {
  /** Takes calls in any order. */
  page(calls: readonly Call[]): void;
  /** What the outcomes change of what the tool has. */
  changes(): CallChange[];
}

/** What the ledger knows: what was sent, and the time of rows that were read and not sent. */
interface Known {
  readonly delivered: ReadonlyMap<string, LedgerEntry>;
  readonly seen: ReadonlyMap<string, number>;
}

/**
 * Judges outcomes: each is a conversion by the click of its call, with the time and the value of the
 * outcome. What was sent keeps its click and its time.
 *
 * @param check leaves out what the tool would refuse.
 */
export function createOutcomeJudge(
  outcomes: OutcomeRules,
  read: RulesRead<ConversionRules>,
  { accepts }: Tool,
  { delivered, seen }: Known,
  check: (found: Conversion) => Judged,
): OutcomeJudge {
  const { rules } = read;
  const matcher = matchOutcomes<Call>(outcomes.all, outcomes.window);
  const wanted: (readonly [number, Call])[] = [];

  const worthOf = ({ value, currency }: Outcome) => ({
    value,
    currency: currency === null || currency === '$' ? (rules.currency ?? null) : currency,
  });

  const newestTime = (key: string | null): number =>
    key === null
      ? Number.NEGATIVE_INFINITY
      : Math.max(
          delivered.get(key)?.soldAt ?? Number.NEGATIVE_INFINITY,
          seen.get(key) ?? Number.NEGATIVE_INFINITY,
        );

  const apart = apartFrom(delivered);

  const conversionOf = ({ outcome, call, why }: OutcomeMatch<Call>, key: string | null): Judged => {
    if (call === null || key === null) return { reason: why ?? 'no_call' };
    const found = judgeCall(call, accepts, read, { isFirstCall: null }, outcome);
    if ('reason' in found) return found;
    const sold = timeOfOutcome(outcome, rules);
    if ('reason' in sold) return sold;
    const begin = Math.max(sold.at, found.startedAt + second);
    const at = isDay(outcome) ? begin + secondsOf(key) * second : begin;
    if (at > rules.now) return { reason: 'in_the_future' };
    return { ...found, key, at, endedAt: at, ...worthOf(outcome) };
  };

  const judge = (
    match: OutcomeMatch<Call>,
    key: string | null,
    old: LedgerEntry | null,
  ): Judged => {
    const { outcome } = match;
    const { conversion, counts } = outcome;
    if (!counts) return { reason: 'cancelled' };
    if (conversion !== null && conversion !== rules.conversionName)
      return { reason: 'other_conversion' };
    const found = conversionOf(match, key);
    if (old === null) return 'reason' in found ? found : check(apart(found));

    // The tool has it; that it would not get it now is said.
    if ('reason' in found && nowWrong.has(found.reason)) return found;
    const { click, at, sid, account } = old;
    const known = 'reason' in found ? sentBefore(old) : found;
    return { ...known, click, at, sid, account, ...worthOf(outcome) };
  };

  const changesOfMatch = ({ match, key }: Keyed): CallChange[] => {
    const { outcome, call } = match;
    const old = key === null ? null : (delivered.get(key) ?? null);
    if (old === null && !isIn(outcomes.period, outcome.time)) return [];
    const newest = newestTime(key);
    const judged: Judged = outcome.time < newest ? { reason: 'older_row' } : judge(match, key, old);
    return changesOf(judged, old, accepts.findsBy).map(({ entry, ...change }) => {
      const isLeftOut = change.kind === 'left-out' && (old !== null || holding.has(change.why));
      const isNews = isLeftOut && outcome.id !== null && outcome.time > newest;
      return {
        ...change,
        entry: entry && { ...entry, soldAt: outcome.time },
        call,
        outcome,
        seen: key === null || !isNews ? null : seenRow(key, call, outcome),
      };
    });
  };

  /** What was sent of the time of the files, and is in none of them. */
  const missing = (keyed: readonly Keyed[]): CallChange[] => {
    const known = new Set(keyed.map(({ key }) => key));
    const first = outcomes.all.reduce((least, { time }) => Math.min(least, time), Infinity);
    const last = outcomes.all.reduce((most, { until }) => Math.max(most, until), -Infinity);

    // A row without an id whose call is not read any more has no key.
    const nameless = new Set(
      keyed.filter(({ key }) => key === null).map(({ match }) => match.outcome.time),
    );
    return [...delivered.values()].flatMap((old): CallChange[] => {
      const soldAt = newestTime(old.key);
      const isOfFiles = soldAt >= first && soldAt <= last && !nameless.has(soldAt);
      if (!isOfFiles || known.has(old.key) || old.action === 'retract') return [];
      return changesOf({ reason: 'not_in_files' }, old, accepts.findsBy).map((change) => {
        return { ...change, call: null, outcome: null, seen: null };
      });
    });
  };

  return {
    page(calls) {
      for (const call of calls) {
        read.learn(call);
        const caller = callerOf(call);
        if (matcher.wants(caller)) wanted.push([caller, call]);
      }
    },
    changes() {
      // Which calls are excluded may be known when all are there.
      for (const [caller, call] of wanted)
        matcher.add(caller, {
          account: String(call.acct_id),
          time: parseTime(String(call.date_added))?.millis ?? Number.NaN,
          sid: String(call.sid),
          isExcluded: read.isExcluded(call),
          it: call,
        });

      const keyed = keysOf(matcher.matches(), delivered);
      const changes = keyed.flatMap(changesOfMatch);
      return outcomes.isComplete ? [...changes, ...missing(keyed)] : changes;
    },
  };
}

/** Gives each its own second: the tool would take two outcomes of one click and one time for one. */
function apartFrom(delivered: Known['delivered']): (found: Conversion) => Conversion {
  const taken = new Set([...delivered.values()].map((entry) => placeOf(entry, entry.at)));
  return (found) => {
    let { at } = found;
    while (taken.has(placeOf(found, at))) at += second;
    taken.add(placeOf(found, at));
    return { ...found, at, endedAt: at };
  };
}

const seenRow = (key: string, call: Call | null, { time }: Outcome): SeenRow => ({
  key,
  sid: call && String(call.sid),
  account: call && String(call.acct_id),
  soldAt: time,
});

/** An outcome with what the ledger knows it by; null without an id and a call. */
interface Keyed {
  readonly match: OutcomeMatch<Call>;
  readonly key: string | null;
}

/** Why an outcome of which the tool has the conversion would not be sent any more. */
const nowWrong: ReadonlySet<LeftOutReason> = new Set(['excluded', 'consent_denied', 'no_consent']);

/**
 * Why nothing is sent of a row that holds against older ones. One that is left out for another reason,
 * such as a mistyped day, does not: the row may come again with the right one.
 */
const holding: ReadonlySet<CallChange['why']> = new Set(['cancelled', 'other_conversion']);

/**
 * What the ledger and the tool know outcomes by: their id, which is hashed, else their call, their
 * time, and their place among those of the same. One that was sent with an earlier call of its
 * caller stays with that.
 */
function keysOf(
  matches: readonly OutcomeMatch<Call>[],
  delivered: ReadonlyMap<string, LedgerEntry>,
): readonly Keyed[] {
  const places = new Map<string, number>();
  return matches.map((match) => {
    const { outcome, call, within } = match;
    if (outcome.id !== null) return { match, key: `${mark}${hashOf(outcome.id)}` };
    if (call === null) return { match, key: null };
    const time = formatNaive(outcome.time).replace(/[^0-9]/g, '');
    const same = `${outcome.caller} ${time}`;
    const place = (places.get(same) ?? 0) + 1;
    places.set(same, place);
    const keyWith = ({ sid }: Call): string => `${mark}${String(sid)}-${time}-${place}`;
    const known = within.map(keyWith).find((key) => delivered.has(key));
    return { match, key: known ?? keyWith(call) };
  });
}

/**
 * How long after the beginning of its day an outcome of a date alone is said to be: less than an hour,
 * and the same in each run, whatever other rows the file has by then.
 */
const secondsOf = (key: string): number => Number.parseInt(hashOf(key).slice(0, 8), 16) % 3600;

const hashOf = (id: string): string =>
  createHash('sha256').update(`outcome ${id}`).digest('hex').slice(0, 40);

/** What a tool tells conversions of one name apart by. */
const placeOf = ({ click, sid }: Pick<LedgerEntry, 'click' | 'sid'>, at: number): string =>
  `${click === null ? `call ${sid}` : `${click.kind} ${click.id}`} ${at}`;

/** An outcome that was sent, as it was: its call may not be read any more. */
function sentBefore(entry: LedgerEntry): Conversion {
  const { key, sid, account, click, at, name, value, currency, consent = null } = entry;
  return {
    key,
    sid,
    account,
    click,
    clickIds: click === null ? {} : { [click.kind]: click.id },
    startedAt: at,
    endedAt: at,
    clickedAt: at,
    at,
    callerNumber: null,
    calledNumber: '',
    isAnswered: true,
    talkSeconds: 0,
    name,
    value,
    currency,
    rule: null,
    consent,
  };
}
