import type { Outcome } from '../conversions.ts';
import type { LedgerEntry } from '../entry.ts';
import { type Compared, compare } from '../ledger/changes.ts';
import { phoneOf } from './google-data-manager.ts';
import type { ConversionChange } from './push.ts';

/** What a tool does not know yet. */
export interface PushChanges extends Compared {
  /** What to send: corrections, then what is new, each in order of the calls. */
  readonly changes: readonly ConversionChange[];
  /** Conversions that could be matched only by a number whose caller did not agree to that. */
  readonly withoutConsent: number;
  /** Numbers of callers by session id, for what an earlier run has sent with them. */
  readonly numbers: ReadonlyMap<string, string>;
}

/**
 * Compares calls with what the ledger says was sent: new conversions, other values, and calls that
 * no longer count. Google finds a conversion by its transaction ID, Microsoft by click, name and
 * time.
 *
 * @example
 * const tool = { accepts: dataManagerAccepts({ phone: false }) }; const { changes } = await
 * changesToPush('google', ledger.delivered('google'), conversions(calls, rules, tool));
 */
export async function changesToPush(
  tool: 'google' | 'microsoft',
  delivered: ReadonlyMap<string, LedgerEntry>,
  outcomes: AsyncIterable<Outcome> | Iterable<Outcome>,
): Promise<PushChanges> {
  const add: ConversionChange[] = [];
  const adjust: ConversionChange[] = [];
  const numbers = new Map<string, string>();
  let withoutConsent = 0;

  const noted = async function* (): AsyncGenerator<Outcome> {
    for await (const outcome of outcomes) {
      const { sid = '', callerNumber = null } = 'conversion' in outcome ? outcome.conversion : {};
      if (callerNumber !== null && delivered.has(sid)) numbers.set(sid, callerNumber);
      yield outcome;
    }
  };

  const findsBy = tool === 'google' ? 'id' : 'click';
  const compared = await compare(delivered, noted(), findsBy, (entry, outcome) => {
    const { callerNumber = null } = 'conversion' in outcome ? outcome.conversion : {};
    const change = { entry, callerNumber: phoneOf({ entry, callerNumber }) };
    const isMatchable = entry.click !== null || change.callerNumber !== null;
    if (isMatchable) (entry.action === 'add' ? add : adjust).push(change);
    else if (entry.action === 'add') withoutConsent += 1;
    return isMatchable;
  });
  return { ...compared, changes: [...adjust, ...add], withoutConsent, numbers };
}
