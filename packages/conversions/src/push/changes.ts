import type { Conversion } from '../conversion.ts';
import type { Outcome } from '../conversions.ts';
import { entryOf, type LedgerEntry } from '../entry.ts';
import { sheetFormats } from '../formats/all.ts';
import { type Changes, changesSince, type Unadjusted } from '../ledger/changes.ts';
import { isMatchable, phoneOf } from './google-events.ts';
import type { ConversionChange } from './target.ts';

/** What a tool does not know yet. */
export interface PushChanges {
  /** What to send, in order of the calls. */
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
  const known = new Map<string, Conversion>();
  const watched = async function* (): AsyncGenerator<Outcome> {
    for await (const outcome of outcomes) {
      if ('conversion' in outcome && delivered.has(outcome.conversion.orderId))
        known.set(outcome.conversion.orderId, outcome.conversion);
      yield outcome;
    }
  };
  const found = await changesSince(
    delivered,
    watched(),
    sheetFormats[tool === 'google' ? 'google-ads-clicks' : 'microsoft-ads'],
  );
  if (tool === 'microsoft') {
    const entries = [...found.adjust, ...found.add.map(({ conversion }) => entryOf(conversion))];
    const changes = entries.map((entry) => ({ entry, callerNumber: null, consent: null }));
    const { unchanged, unadjusted, uncertain } = found;
    return { changes, unchanged, withoutConsent: 0, unadjusted, uncertain, numbers: new Map() };
  }
  return googleChanges(delivered, found, known);
}

function googleChanges(
  delivered: ReadonlyMap<string, LedgerEntry>,
  found: Changes,
  known: ReadonlyMap<string, Conversion>,
): PushChanges {
  const changes: ConversionChange[] = [];
  const unadjusted: Unadjusted[] = [];
  let withoutConsent = 0;
  const take = (
    entry: LedgerEntry,
    { callerNumber, consent }: Pick<Conversion, 'callerNumber' | 'consent'>,
  ) => {
    const given = { entry, callerNumber, consent };
    const change = { ...given, callerNumber: phoneOf(given) };
    if (isMatchable(change)) changes.push(change);
    else if (entry.action === 'add') withoutConsent += 1;
    else
      unadjusted.push({
        sid: entry.sid,
        change: entry.action === 'retract' ? 'no_conversion' : 'value_changed',
      });
  };

  const moved = new Set(
    found.add.map(({ conversion }) => conversion.orderId).filter((id) => delivered.has(id)),
  );
  for (const entry of found.adjust) {
    // The same transaction ID with another click would stay with the first one.
    if (moved.has(entry.orderId)) unadjusted.push({ sid: entry.sid, change: 'click_changed' });
    else take(entry, known.get(entry.orderId) ?? { callerNumber: null, consent: null });
  }
  for (const { conversion } of found.add)
    if (!moved.has(conversion.orderId)) take(entryOf(conversion), conversion);
  for (const item of found.unadjusted) {
    const conversion = item.change === 'counts_again' ? known.get(item.sid) : undefined;
    // A retraction was a value of 0, so a value brings it back.
    if (conversion?.value != null) take(entryOf(conversion, 'restate'), conversion);
    else unadjusted.push(item);
  }
  const numbers = new Map<string, string>();
  for (const [id, { callerNumber }] of known) if (callerNumber !== null) numbers.set(id, callerNumber);
  const { unchanged, uncertain } = found;
  return { changes, unchanged, withoutConsent, unadjusted, uncertain, numbers };
}
