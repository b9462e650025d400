import type { Outcome } from '../conversions.ts';
import type { LedgerEntry } from '../entry.ts';
import { standings, type Unadjusted } from '../ledger/changes.ts';
import { isMatchable, phoneOf } from './google-data-manager.ts';
import type { ConversionChange } from './push.ts';

/** What a tool does not know yet. */
export interface PushChanges {
  /** What to send: corrections, then what is new, each in order of the calls. */
  readonly changes: readonly ConversionChange[];
  /** How many conversions it has as they are now. */
  readonly unchanged: number;
  /** Conversions that could be matched only by a number whose caller did not agree to that. */
  readonly withoutConsent: number;
  /** What was sent and cannot be corrected. */
  readonly unadjusted: readonly Unadjusted[];
  /** Session ids of calls of which nobody knows whether the tool has them. */
  readonly uncertain: readonly string[];
  /** Numbers of callers by order id, for what an earlier run has sent with them. */
  readonly numbers: ReadonlyMap<string, string>;
}

/**
 * Compares calls with what the ledger says was sent: new conversions, other values, and calls that no longer count. Google
 * finds a conversion by its transaction ID, Microsoft by click, name and time.
 *
 * @example
 * const tool = { accepts: dataManagerAccepts({ phone: false }) };
 * const { changes } = await changesToPush('google', ledger.delivered('google'), conversions(calls, rules, tool));
 */
export async function changesToPush(
  tool: 'google' | 'microsoft',
  delivered: ReadonlyMap<string, LedgerEntry>,
  outcomes: AsyncIterable<Outcome> | Iterable<Outcome>,
): Promise<PushChanges> {
  const isGoogle = tool === 'google';
  const add: ConversionChange[] = [];
  const adjust: ConversionChange[] = [];
  const unadjusted: Unadjusted[] = [];
  const uncertain: string[] = [];
  const numbers = new Map<string, string>();
  let unchanged = 0;
  let withoutConsent = 0;
  for await (const standing of standings(delivered, outcomes, isGoogle ? 'id' : 'click')) {
    const { outcome, sid, state, change, send } = standing;
    const known = 'conversion' in outcome ? outcome.conversion : null;
    if (isGoogle && known?.callerNumber && delivered.has(known.orderId))
      numbers.set(known.orderId, known.callerNumber);
    if (state === 'sent') unchanged += 1;
    else if (state === 'uncertain') uncertain.push(sid);
    else if (change !== null && send.length === 0) unadjusted.push({ sid, change });
    for (const entry of send) {
      const { callerNumber = null, consent = null } = (isGoogle && known) || {};
      const given = { entry, callerNumber, consent };
      const item = { ...given, callerNumber: phoneOf(given) };
      if (!isGoogle || isMatchable(item)) (entry.action === 'add' ? add : adjust).push(item);
      else if (change === null) withoutConsent += 1;
      else unadjusted.push({ sid, change });
    }
  }
  return { changes: [...adjust, ...add], unchanged, withoutConsent, unadjusted, uncertain, numbers };
}
