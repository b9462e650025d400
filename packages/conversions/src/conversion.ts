import { type Call, isCallExtension, isFinalStatus } from '@call-attribution/core/record';
import {
  instantOf as beginningOf,
  type Duration,
  day,
  durationMillis,
  formatNaive,
  instantsOf,
  type Period,
  parseTime,
  second,
} from '@call-attribution/core/time';
import {
  type ClickIdName,
  type ClickIds,
  clickIdsOf,
  type Outcome,
} from '@call-attribution/questions';
import type { Consent } from './consent.ts';
import { toE164 } from './phone.ts';
import type { LeftOutReason } from './reasons.ts';
import { type ConditionalRules, type RulesRead, readRules } from './rules-read.ts';
import type { CallerFacts } from './value-rules.ts';

/** What the user decides for all conversions of a run. */
export interface ConversionRules extends ConditionalRules {
  /** Time zone the API writes its times in. Null leaves every call out as `zone_missing`. */
  readonly timeZone: string | null;
  /** Conversion action, goal or type, spelled as in the tool. Empty for tools that have none. */
  readonly conversionName: string;
  /** Currency of the values, such as `USD`. */
  readonly currency?: string | undefined;
  /** The present, in milliseconds since 1970: when the conversions are uploaded. */
  readonly now: number;
  /** Calls younger than this are left out. Default: what the tool asks for. */
  readonly minAge?: Duration | undefined;
  /** Which instant a time means that the clocks showed twice. Default: the call is left out. */
  readonly repeatedHour?: 'leave-out' | 'first' | 'second' | undefined;
  /** Calls that nobody answered count too, whatever the minimum talk time. Default false. */
  readonly unanswered?: boolean | undefined;
  /**
   * Minimum talk time, such as `60s`; shorter calls are left out. Default: `minTalk` of the tool.
   */
  readonly minTalk?: Duration | undefined;
  /**
   * Age of the oldest click at the time of the upload, such as `30d`. Default, and at most: what
   * the tool accepts.
   */
  readonly clickWindow?: Duration | undefined;
  /** Only the first call of a caller counts. Default false. */
  readonly firstCallOnly?: boolean | undefined;
  /** A caller counts once in this time, such as `30d`. Default: every call counts. */
  readonly oncePerCaller?: Duration | undefined;
  /**
   * Calls before this time (`YYYY-MM-DD HH:MM:SS`, as the API writes it) are only read for the
   * rules about callers: they are neither conversions nor left out. Default: all calls are judged.
   */
  readonly from?: string | undefined;
  /**
   * What calls became: these are the conversions then, with their own time and value, and what the
   * rules say of the talk, of callers and of values does not apply. Default: calls are.
   */
  readonly outcomes?: OutcomeRules | undefined;
}

/** Outcomes that are the conversions, in place of calls. */
export interface OutcomeRules {
  /** The outcomes, from `readOutcomes`. */
  readonly all: readonly Outcome[];
  /** How many milliseconds a call may lie before its outcome: `usualWindow`. */
  readonly window: number;
  /** Outcomes of this time are sent. What was sent before is corrected whenever it was. */
  readonly period: Period;
  /**
   * Nothing is missing in the files between their first and their last outcome: what was sent of
   * that time and is in none of them is taken back.
   */
  readonly isComplete: boolean;
}

/** Which calls a tool takes. */
export interface Acceptance {
  /** What the tool matches a conversion by: the first of these that the call has. */
  readonly matchBy: readonly (ClickIdName | 'caller number')[];
  /** Takes only calls through call extensions. */
  readonly onlyExtensions: boolean;
  /** Takes only calls whose attribution is finished. */
  readonly needsFinalStatus: boolean;
  /** Takes a value for each conversion. */
  readonly takesValue: boolean;
  /** How long they have to talk for a call to count, unless the rules say otherwise. */
  readonly minTalk: Duration;
  /** Time after which the tool knows a click. */
  readonly minAge: Duration;
  /** Time after which the tool has forgotten a click; null for no limit. */
  readonly clickWindow: Duration | null;
  /** Has a place for what the caller agreed to; a call that is denied is left out elsewhere. */
  readonly takesConsent: boolean;
  /** Takes the number of a caller only where the caller agreed to that. Default false. */
  readonly numberNeedsConsent?: boolean;
  /**
   * What the tool finds an uploaded conversion by when it is corrected. By its click: another click
   * is another conversion. By its ID: another click stays with the first one. Null where nothing
   * can be corrected.
   */
  readonly findsBy: 'click' | 'id' | null;
}

/** A conversion, or why there is none. */
export type Judged = Conversion | { readonly reason: LeftOutReason };

/**
 * A call, or an outcome, that counts as a conversion, independent of the tool. Instants are in milliseconds since
 * 1970.
 */
export interface Conversion {
  /** What the tool and the ledger know it by: the session id of the call, or that of an outcome. */
  readonly key: string;
  /** Session id of the call. */
  readonly sid: string;
  /** Account of the call. */
  readonly account: string;
  /** The click that the tool matches by; null when it matches by the number of the caller. */
  readonly click: { readonly kind: ClickIdName; readonly id: string } | null;
  /** All ids of the click and of what was clicked. */
  readonly clickIds: ClickIds;
  /** When the call began. */
  readonly startedAt: number;
  /**
   * When the conversion happened: the end of the talk, or a second after the start of a call
   * without talk; the time of an outcome.
   */
  readonly endedAt: number;
  /** When it counts for a tool that matches by clicks: the start of the call, or the outcome. */
  readonly at: number;
  /** When the visit with the click began, as far as the record says. */
  readonly clickedAt: number;
  /**
   * Number of the caller as + and digits, which is personal data; null unless the tool matches by
   * it and may have it.
   */
  readonly callerNumber: string | null;
  /** The number that was called. */
  readonly calledNumber: string;
  /** Whether anybody talked. */
  readonly isAnswered: boolean;
  /** How long they talked, in seconds. */
  readonly talkSeconds: number;
  /** Conversion action, goal or type, spelled as in the tool; empty for tools that have none. */
  readonly name: string;
  /** What the conversion is worth; null when the rules give no values. */
  readonly value: number | null;
  /** Currency of the value; null without a value or a currency. */
  readonly currency: string | null;
  /** The rule that gave the value, by its name or condition; null where none did. */
  readonly rule: string | null;
  /** What the caller agreed to; null when the rules do not say. */
  readonly consent: Consent | null;
}

/** The click ID that a tool would take first; null when the call has none of those that it takes. */
function firstClick({ matchBy }: Acceptance, ids: ClickIds): Conversion['click'] {
  for (const kind of matchBy) {
    const id = kind === 'caller number' ? undefined : ids[kind];
    if (kind !== 'caller number' && id !== undefined) return { kind, id };
  }

  return null;
}

/**
 * The conversion that a call is for a tool, or the reason why it does not count. Rules about
 * callers need more than one call: `conversions` applies them.
 *
 * @example
 * const found = conversionOf(call, sheetFormats['google-ads-clicks'].accepts, rules);
 * if ('reason' in found) console.log(call.sid, reasonTexts[found.reason]);
 */
export function conversionOf(
  call: Call,
  accepts: Acceptance,
  rules: ConversionRules,
  caller: CallerFacts = { isFirstCall: null },
): Judged {
  return judgeCall(call, accepts, readRules(rules), caller);
}

/**
 * The same with rules that were read once for many calls. For an outcome nothing counts but the click
 * of its call.
 */
export function judgeCall(
  call: Call,
  accepts: Acceptance,
  read: RulesRead<ConversionRules>,
  caller: CallerFacts,
  outcome: Outcome | null = null,
): Judged {
  const { rules } = read;
  const { timeZone } = rules;
  if (read.isExcluded(call)) return { reason: 'excluded' };
  if (timeZone === null) return { reason: 'zone_missing' };
  const mayNumber = accepts.matchBy.includes('caller number');
  const clickIds = clickIdsOf(call);
  const callerNumber = mayNumber ? toE164(call.ani) : null;
  const click = firstClick(accepts, clickIds);
  if (accepts.onlyExtensions && !isCallExtension(call)) return { reason: 'not_a_call_extension' };
  if (click === null && callerNumber === null)
    return { reason: mayNumber ? 'no_caller_number' : 'no_click_id' };
  if (accepts.onlyExtensions && call.ppc_status === 'Desktop') return { reason: 'desktop_call' };
  const talkSeconds = talkSecondsOf(call);
  const short = outcome === null && tooShort(talkSeconds, accepts, rules);
  if (short) return { reason: short };
  if (accepts.needsFinalStatus && !isFinalStatus(call.ppc_status))
    return { reason: 'status_not_final' };
  if (!read.isChosen(call)) return { reason: 'not_chosen' };

  const started = instantOf(call.date_added, timeZone, rules);
  if ('reason' in started) return started;
  const ended = instantOf(call.talk_end, timeZone, rules);
  const shown = instantOf(call.displayed_timestamp, timeZone, rules);
  const startedAt = started.at;
  const clickedAt = click !== null && 'at' in shown ? Math.min(shown.at, startedAt) : startedAt;
  const reason = wrongAge(startedAt, clickedAt, accepts, rules);
  if (reason) return { reason };

  const { value, rule } =
    accepts.takesValue && outcome === null
      ? read.worthOf(call, caller)
      : { value: null, rule: null };
  if (outcome === null && accepts.takesValue && rules.value !== undefined && value === null)
    return { reason: 'no_value' };
  const consent = read.consentOf(call);
  if (consent?.adUserData === 'denied' && !accepts.takesConsent)
    return { reason: 'consent_denied' };
  if (consent?.adUserData === 'unknown' && read.leavesUnknown) return { reason: 'no_consent' };
  const mayHaveNumber = !accepts.numberNeedsConsent || consent?.adUserData === 'granted';
  if (click === null && !mayHaveNumber) return { reason: 'no_consent' };

  // The number stands for one caller, and those clicks for many.
  const isOneClick = click === null || (click.kind !== 'gbraid' && click.kind !== 'wbraid');
  const sid = String(call.sid);
  return {
    key: sid,
    sid,
    account: String(call.acct_id),
    click,
    clickIds,
    startedAt,
    at: startedAt,
    endedAt: 'at' in ended && ended.at > startedAt ? ended.at : startedAt + second,
    clickedAt,
    callerNumber: mayHaveNumber && isOneClick ? callerNumber : null,
    calledNumber: String(call.dnis ?? '').replace(/[^0-9+]/g, ''),
    isAnswered: talkSeconds > 0,
    talkSeconds,
    name: rules.conversionName,
    value,
    currency: value === null ? null : (rules.currency ?? null),
    rule,
    consent,
  };
}

/** How long the parties talked, in seconds. The API says it in tenths of a minute. */
function talkSecondsOf(call: Call): number {
  const minutes = Number(call.talk_minutes);
  return minutes > 0 ? Math.round(minutes * 60) : 0;
}

function tooShort(
  talkSeconds: number,
  accepts: Acceptance,
  { unanswered = false, minTalk = accepts.minTalk }: ConversionRules,
): LeftOutReason | null {
  if (talkSeconds === 0) return unanswered ? null : 'unanswered';
  return talkSeconds * second < durationMillis(minTalk, 'minTalk') ? 'too_short' : null;
}

function wrongAge(
  startedAt: number,
  clickedAt: number,
  accepts: Acceptance,
  { now, minAge = accepts.minAge, ...rules }: ConversionRules,
): LeftOutReason | null {
  if (startedAt > now) return 'in_the_future';
  const clickWindow = rules.clickWindow ?? accepts.clickWindow;
  if (clickWindow !== null && now - clickedAt > durationMillis(clickWindow, 'clickWindow'))
    return 'click_too_old';
  return now - startedAt < durationMillis(minAge, 'minAge') ? 'too_recent' : null;
}

/** The instant that a time of the API means, to the second, or why it cannot be known. */
function instantOf(
  text: unknown,
  timeZone: string,
  { repeatedHour }: ConversionRules,
): { readonly at: number } | { readonly reason: LeftOutReason } {
  const time = typeof text === 'string' ? parseTime(text) : null;
  if (!time) return { reason: 'time_unreadable' };
  const [first, repeated] = instantsOf(Math.floor(time.millis / second) * second, timeZone);
  if (first === undefined) return { reason: 'time_not_in_zone' };
  if (repeated === undefined || repeatedHour === 'first') return { at: first };
  return repeatedHour === 'second' ? { at: repeated } : { reason: 'time_twice_in_zone' };
}

/** Has an outcome a date alone? */
export const isDay = ({ time, until }: Outcome): boolean => until - time >= day - 1;

/** The instant of an outcome, to the second, or why it cannot be known. A day is its beginning. */
export function timeOfOutcome(
  outcome: Outcome,
  rules: ConversionRules,
): { readonly at: number } | { readonly reason: LeftOutReason } {
  const { time, instant } = outcome;
  if (instant !== null) return { at: Math.floor(instant / second) * second };
  const zone = rules.timeZone ?? 'UTC';
  if (isDay(outcome)) return { at: beginningOf(time, zone).epochMs };
  return instantOf(formatNaive(time), zone, rules);
}
