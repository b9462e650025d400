import { type Call, phoneKey } from '@call-attribution/core/record';
import { durationMillis, parseTime } from '@call-attribution/core/time';
import { type Acceptance, type Conversion, type ConversionRules, conversionOf } from './conversion.ts';
import type { LeftOutReason } from './reasons.ts';

interface Caller {
  /** Time of the last call that counted, as the API writes times. */
  countedAt: number | null;
}

/** Judges one call after the other, for rules that compare the calls of a caller. Calls come in order of their time. */
export function createJudge(
  accepts: Acceptance,
  rules: ConversionRules,
): (call: Call) => Conversion | { readonly reason: LeftOutReason } {
  const { firstCallOnly = false, oncePerCaller } = rules;
  const once = oncePerCaller === undefined ? null : durationMillis(oncePerCaller, 'oncePerCaller');
  const callers = new Map<string, Caller>();
  return (call) => {
    const key = callerKey(call);
    const known = key === null ? undefined : callers.get(key);
    const found = conversionOf(call, accepts, rules, { isFirstCall: key === null ? null : !known });
    if (key === null) return found;
    const caller = known ?? { countedAt: null };
    if (!known) callers.set(key, caller);
    // A click that is too old by now was not when the call counted.
    const counts = !('reason' in found) || found.reason === 'click_too_old';
    if (!counts) return found;
    if (firstCallOnly && known) return 'reason' in found ? found : { reason: 'repeat_caller' };
    const at = parseTime(String(call.date_added))?.millis ?? 0;
    if (once !== null && caller.countedAt !== null) {
      if (Math.abs(at - caller.countedAt) < once)
        return 'reason' in found ? found : { reason: 'caller_counted' };
    }
    caller.countedAt = at;
    return found;
  };
}

/** Whose call it is; null when the number is withheld. */
function callerKey(call: Call): string | null {
  const number = phoneKey(call.ani);
  return /^\d{7,}$/.test(number) ? `${call.acct_id} ${number}` : null;
}
