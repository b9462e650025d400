import type { Call } from '@call-attribution/core/record';
import type { Outcome } from '@call-attribution/questions';
import type { Acceptance, Conversion, Judged } from './conversion.ts';
import { entryOf, type LedgerEntry, type SeenRow } from './entry.ts';
import { type Correction, correctionTexts, type LeftOutReason } from './reasons.ts';

/** What a call changes of what a tool has. */
export interface Change {
  /**
   * `add`: the tool does not have the conversion. `restate`: it has it with another value.
   * `retract`: it has one that does not count any more. `left-out`: the tool is told nothing.
   */
  readonly kind: 'add' | 'restate' | 'retract' | 'left-out';
  /** The call as a conversion; null when it is none, and of what is taken back. */
  readonly conversion: Conversion | null;
  /**
   * What the ledger will say of it. Of what is left out: what it says already, null when that is
   * nothing.
   */
  readonly entry: LedgerEntry | null;
  /** Why it is corrected or left out; null when it is new. */
  readonly why: LeftOutReason | Correction | null;
  /** The row of an outcome that is left out, where it is newer than what the ledger knows of it. */
  readonly seen: SeenRow | null;
}

/** What changes of what a tool has, whatever it was read from. */
type Judgment = Omit<Change, 'seen'>;

/** A change, and the call or outcome that makes it. */
export interface CallChange extends Change {
  /** The call, which is much larger than the rest; null of an outcome that has none. */
  readonly call: Call | null;
  /** The outcome; null where a call is the conversion, and of one that no file has any more. */
  readonly outcome: Outcome | null;
}

// Reasons that say that the call is not a conversion. The others say that it cannot be known now,
// or not any longer.
const final: ReadonlySet<Change['why']> = new Set<LeftOutReason>([
  'no_click_id',
  'no_caller_number',
  'not_a_call_extension',
  'desktop_call',
  'unanswered',
  'too_short',
  'repeat_caller',
  'caller_counted',
  'no_value',
  'not_chosen',
  'wrong_form',
  'cancelled',
  'other_conversion',
  'not_in_files',
]);

/**
 * What a call changes, as it is now and as the ledger has it: one change, or a retraction and the
 * new conversion where the tool finds conversions by their click and that is another one now.
 */
export function changesOf(
  judged: Judged,
  old: LedgerEntry | null,
  findsBy: Acceptance['findsBy'],
): Judgment[] {
  if ('reason' in judged) {
    const why = old?.uncertain ? 'uncertain' : judged.reason;
    const isOver = old !== null && old.action !== 'retract' && final.has(why);
    return isOver && findsBy !== null && old.click !== null
      ? [retractionOf(old, why)]
      : [{ kind: 'left-out', conversion: null, entry: old, why }];
  }

  const conversion = judged;
  const now = entryOf(conversion);
  if (old === null) return [{ kind: 'add', conversion, entry: now, why: null }];

  const why = differenceOf(old, now);
  const isRetracted = old.action === 'retract';
  if (why === 'click_changed' && findsBy === 'click' && (isRetracted || old.click !== null)) {
    const addition: Judgment = { kind: 'add', conversion, entry: now, why };
    return isRetracted ? [addition] : [retractionOf(old, why), addition];
  }

  // A value brings back what was retracted, where the tool knows conversions by an ID.
  const isRestated =
    (why === 'value_changed' && findsBy !== null) ||
    (why === 'counts_again' && findsBy === 'id' && now.value !== null);
  return isRestated
    ? [{ kind: 'restate', conversion, entry: { ...now, action: 'restate' }, why }]
    : [{ kind: 'left-out', conversion, entry: old, why }];
}

/** The number of the caller does not go with it: the click alone says what is taken back. */
function retractionOf(old: LedgerEntry, why: Change['why']): Judgment {
  const { byNumber: _, ...rest } = old;
  return { kind: 'retract', conversion: null, entry: { ...rest, action: 'retract' }, why };
}

function differenceOf(
  old: LedgerEntry,
  now: LedgerEntry,
): Correction | 'sent_before' | 'uncertain' {
  if (old.uncertain) return 'uncertain';
  const isSameClick = old.click?.kind === now.click?.kind && old.click?.id === now.click?.id;
  if (!isSameClick || old.at !== now.at || old.name !== now.name) return 'click_changed';
  if (old.action === 'retract') return 'counts_again';
  const isSameValue =
    now.value === null || (now.value === old.value && now.currency === old.currency);
  if (!isSameValue) return 'value_changed';
  const isWithdrawn = now.consent?.adUserData === 'denied' && old.consent?.adUserData !== 'denied';
  return isWithdrawn ? 'consent_withdrawn' : 'sent_before';
}

/** What the tool has that is no longer right and that cannot be corrected; null for anything else. */
export function uncorrected({ kind, entry, why }: Judgment): Correction | null {
  if (kind !== 'left-out' || entry === null) return null;
  const isThere = entry.action !== 'retract';
  if (final.has(why)) return isThere ? 'no_conversion' : null;
  if (why === 'excluded') return isThere ? 'now_excluded' : null;
  if (why === 'no_consent' || why === 'consent_denied') return isThere ? 'consent_withdrawn' : null;
  return Object.hasOwn(correctionTexts, String(why)) ? (why as Correction) : null;
}

/**
 * What a sheet or a push needs: what is to be sent, corrections before what is new, each in order of
 * the calls, what was sent before with the number of the caller, in case it has to be sent again, and
 * rows of outcomes that the ledger is to note. The calls themselves are left behind.
 *
 * @param onChange gets each change first, to count it.
 * @example
 * const tally = createTally();
 * const changes = await changesToSend(conversions(calls, rules, format, ledger.delivered('ads')), tally.add);
 */
export async function changesToSend(
  changes: AsyncIterable<CallChange> | Iterable<CallChange>,
  onChange: (change: CallChange) => void = () => {},
): Promise<Change[]> {
  const additions: Change[] = [];
  const others: Change[] = [];
  for await (const change of changes) {
    onChange(change);
    const { kind, conversion, entry, why, seen } = change;
    const isWanted =
      kind !== 'left-out' || seen !== null || (conversion !== null && entry?.byNumber);
    if (isWanted)
      (kind === 'add' ? additions : others).push({ kind, conversion, entry, why, seen });
  }

  return [...others, ...additions];
}

/** What the ledger is to note of rows that are left out. */
export const seenRows = (changes: readonly Change[]): SeenRow[] =>
  changes.flatMap(({ seen }) => seen ?? []);
