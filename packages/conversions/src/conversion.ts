import { type Call, isCallExtension, isFinalStatus } from '@call-attribution/core';
import { toE164 } from '@call-attribution/core/privacy';
import { day, hour, instantsOf, parseTime, second } from '@call-attribution/core/time';
import { type ClickIdName, type ClickIds, clickIdsOf } from './click-ids.ts';
import type { LeftOutReason } from './reasons.ts';

/** What the user decides for all conversions of a run. */
export interface ConversionRules {
  /** Time zone the API writes its times in. Null leaves every call out as `zone_missing`. */
  readonly timeZone: string | null;
  /** Conversion action, goal or type, spelled as in the tool. Empty for tools that have none. */
  readonly conversionName: string;
  /** Value of a call, or null when no rule applies. Without it, conversions carry no value. */
  readonly value?: (call: Call) => number | null;
  /** Currency of the values, such as `USD`. */
  readonly currency?: string;
  /** The present, in milliseconds since 1970. */
  readonly now: number;
  /** Calls younger than this many milliseconds are left out. Default: what the tool asks for. */
  readonly minAge?: number;
  /** Which instant a time means that the clocks showed twice. Default: the call is left out. */
  readonly repeatedHour?: 'leave-out' | 'first' | 'second';
}

/** Which calls a tool takes. */
export interface Acceptance {
  /** What the tool matches a conversion by. With `caller number` it takes only calls through call extensions. */
  readonly matchBy: ClickIdName | 'caller number';
  /** Takes only calls whose attribution is finished. */
  readonly needsFinalStatus: boolean;
  /** Takes a value for each conversion. */
  readonly takesValue: boolean;
  /** Hours after which the tool knows a click. */
  readonly minHours: number;
  /** Days after which the tool has forgotten a click; null for no limit. */
  readonly maxClickDays: number | null;
}

/** A call that counts as a conversion, independent of the tool. Times are in milliseconds since 1970. */
export interface Conversion {
  /** Session id of the call. */
  readonly sid: string;
  /** When the call began. */
  readonly startedAt: number;
  /** When the conversion happened: the end of the talk, or a second after the start of a call without talk. */
  readonly endedAt: number;
  /** When the visit with the click began, as far as the record tells. */
  readonly clickedAt: number;
  /** Ids of the click and of what was clicked. */
  readonly clickIds: ClickIds;
  /** Number of the caller as + and digits, which is personal data; null unless the tool matches by it. */
  readonly callerNumber: string | null;
  /** The number that was called. */
  readonly calledNumber: string;
  /** Whether anybody talked. */
  readonly isAnswered: boolean;
  /** What the conversion is worth; null when the rules give no values. */
  readonly value: number | null;
  /** Currency of the value; null without a value or a currency. */
  readonly currency: string | null;
}

/**
 * The conversion that a call is for a tool, or the reason why it does not count.
 *
 * @example
 * const found = conversionOf(call, sheetFormats['google-ads-clicks'].accepts, rules);
 * if ('reason' in found) console.log(call.sid, reasonTexts[found.reason]);
 */
export function conversionOf(
  call: Call,
  accepts: Acceptance,
  rules: ConversionRules,
): Conversion | { readonly reason: LeftOutReason } {
  const { matchBy } = accepts;
  const byCaller = matchBy === 'caller number';
  const callerNumber = byCaller ? toE164(call.ani) : null;
  if (byCaller && !isCallExtension(call)) return { reason: 'not_a_call_extension' };
  if (byCaller && callerNumber === null) return { reason: 'no_caller_number' };
  if (byCaller && call.ppc_status === 'Desktop') return { reason: 'desktop_call' };
  const clickIds = clickIdsOf(call);
  if (!byCaller && clickIds[matchBy] === undefined) return { reason: 'no_click_id' };
  if (accepts.needsFinalStatus && !isFinalStatus(call.ppc_status)) return { reason: 'status_not_final' };

  const started = instantOf(call.date_added, rules);
  if ('reason' in started) return started;
  const ended = instantOf(call.talk_end, rules);
  const shown = instantOf(call.displayed_timestamp, rules);
  const startedAt = started.at;
  const clickedAt = !byCaller && 'at' in shown ? Math.min(shown.at, startedAt) : startedAt;
  const reason = wrongAge(startedAt, clickedAt, accepts, rules);
  if (reason) return { reason };

  const read = accepts.takesValue ? rules.value : undefined;
  const value = read?.(call) ?? null;
  if (read && value === null) return { reason: 'no_value' };
  return {
    sid: String(call.sid),
    startedAt,
    endedAt: 'at' in ended && ended.at > startedAt ? ended.at : startedAt + second,
    clickedAt,
    clickIds,
    callerNumber,
    calledNumber: String(call.dnis ?? '').replace(/[^0-9+]/g, ''),
    isAnswered: Number(call.talk_minutes) > 0,
    value,
    currency: value === null ? null : (rules.currency ?? null),
  };
}

function wrongAge(
  startedAt: number,
  clickedAt: number,
  { minHours, maxClickDays }: Acceptance,
  { now, minAge = minHours * hour }: ConversionRules,
): LeftOutReason | null {
  if (startedAt > now) return 'in_the_future';
  if (maxClickDays !== null && now - clickedAt > maxClickDays * day) return 'click_too_old';
  return now - startedAt < minAge ? 'too_recent' : null;
}

/** The instant that a time of the API means, to the second, or why it cannot be known. */
function instantOf(
  text: unknown,
  { timeZone, repeatedHour }: ConversionRules,
): { readonly at: number } | { readonly reason: LeftOutReason } {
  if (timeZone === null) return { reason: 'zone_missing' };
  const time = typeof text === 'string' ? parseTime(text) : null;
  if (!time) return { reason: 'time_unreadable' };
  const [first, repeated] = instantsOf(Math.floor(time.millis / second) * second, timeZone);
  if (first === undefined) return { reason: 'time_not_in_zone' };
  if (repeated === undefined || repeatedHour === 'first') return { at: first };
  return repeatedHour === 'second' ? { at: repeated } : { reason: 'time_twice_in_zone' };
}
