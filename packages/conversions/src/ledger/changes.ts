import type { Converted, Outcome } from '../conversions.ts';
import { entryOf, type LedgerEntry } from '../entry.ts';
import type { Change, LeftOutReason } from '../reasons.ts';
import type { SheetFormat } from '../sheet-format.ts';

/** Something that was uploaded and is no longer right, where the tool offers no way to say so. */
export interface Unadjusted {
  /** Session id of the call. */
  readonly sid: string;
  /** What has changed. */
  readonly change: Change;
}

/** What a destination does not know yet. */
export interface Changes {
  /** Conversions that were never uploaded, each with its row. */
  readonly add: readonly Converted[];
  /** Uploaded conversions to restate or retract. */
  readonly adjust: readonly LedgerEntry[];
  /** How many were uploaded as they are now. */
  readonly unchanged: number;
  /** What cannot be corrected by an upload. */
  readonly unadjusted: readonly Unadjusted[];
  /** Session ids of calls of which nobody knows whether the tool has them. Nothing is sent about them. */
  readonly uncertain: readonly string[];
}

// Reasons that say that the call is not a conversion. The others say that it cannot be known now, or not any longer.
const final: ReadonlySet<LeftOutReason> = new Set<LeftOutReason>([
  'no_click_id',
  'no_caller_number',
  'not_a_call_extension',
  'desktop_call',
  'unanswered',
  'too_short',
  'repeat_caller',
  'caller_counted',
  'no_value',
  'wrong_form',
]);

/**
 * Compares calls with what was uploaded to a destination: which conversions are new, and which have changed since.
 *
 * @example
 * const changes = await changesSince(ledger.delivered('google-ads-clicks'), conversions(calls, rules, format), format);
 * console.log(`${changes.add.length} new, ${changes.adjust.length} to adjust`);
 */
export async function changesSince(
  delivered: ReadonlyMap<string, LedgerEntry>,
  outcomes: AsyncIterable<Outcome> | Iterable<Outcome>,
  format: Pick<SheetFormat, 'adjustments' | 'holdsTalk'>,
): Promise<Changes> {
  const add: Converted[] = [];
  const adjust: LedgerEntry[] = [];
  const unadjusted: Unadjusted[] = [];
  const uncertain: string[] = [];
  let unchanged = 0;
  const canAdjust = format.adjustments !== undefined;
  const adjustOr = (change: Change, entry: LedgerEntry): boolean => {
    if (canAdjust) adjust.push(entry);
    else unadjusted.push({ sid: entry.sid, change });
    return canAdjust;
  };
  for await (const outcome of outcomes) {
    const old = delivered.get('leftOut' in outcome ? String(outcome.call.sid) : outcome.conversion.orderId);
    if (old?.uncertain) {
      uncertain.push(old.sid);
      continue;
    }
    if ('leftOut' in outcome) {
      if (old && old.action !== 'retract' && final.has(outcome.leftOut))
        adjustOr('no_conversion', { ...old, action: 'retract' });
      continue;
    }
    // Without the call itself, which is much larger.
    const { conversion, row } = outcome;
    const now = entryOf(conversion);
    if (!old) add.push({ conversion, row });
    else if (!isSameClick(old, now)) {
      // The tool finds a conversion by its click, so another click is another conversion.
      if (old.action === 'retract' || adjustOr('click_changed', { ...old, action: 'retract' }))
        add.push({ conversion, row });
    } else if (old.action === 'retract') unadjusted.push({ sid: old.sid, change: 'counts_again' });
    else if (now.value !== null && (now.value !== old.value || now.currency !== old.currency))
      adjustOr('value_changed', { ...now, action: 'restate' });
    else if (format.holdsTalk && now.talkSeconds !== old.talkSeconds)
      unadjusted.push({ sid: old.sid, change: 'length_changed' });
    else unchanged += 1;
  }
  return { add, adjust, unchanged, unadjusted, uncertain };
}

function isSameClick(a: LedgerEntry, b: LedgerEntry): boolean {
  return a.click?.kind === b.click?.kind && a.click?.id === b.click?.id && a.at === b.at && a.name === b.name;
}
