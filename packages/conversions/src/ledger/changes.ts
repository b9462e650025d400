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

/** What a comparison with the ledger finds besides what to send. */
export interface Compared {
  /** How many were uploaded as they are now. */
  readonly unchanged: number;
  /** What cannot be corrected by an upload. */
  readonly unadjusted: readonly Unadjusted[];
  /**
   * Session ids of calls of which nobody knows whether the tool has them. Nothing is sent about
   * them.
   */
  readonly uncertain: readonly string[];
}

/** What a destination does not know yet. */
export interface Changes extends Compared {
  /** Conversions that were never uploaded, each with its row. */
  readonly add: readonly Converted[];
  /** Uploaded conversions to restate or retract. */
  readonly adjust: readonly LedgerEntry[];
}

/**
 * How a call stands with a tool: it was never sent, was sent as it is, may have been sent, is none
 * of its business, or has changed.
 */
type State = 'new' | 'sent' | 'uncertain' | 'none' | Change;

type Action = LedgerEntry['action'];

const same = { value_changed: ['restate'], no_conversion: ['retract'] } as const;

/**
 * What corrects each change. Where a tool finds a conversion by its click, another click is another
 * conversion, and one that was retracted stays so. Where it finds one by its ID, another click
 * would stay with the first one, and a value brings it back.
 */
const corrections: Readonly<Record<'click' | 'id', Readonly<Record<Change, readonly Action[]>>>> = {
  click: { ...same, click_changed: ['retract', 'add'], counts_again: [] },
  id: { ...same, click_changed: [], counts_again: ['restate'] },
};

// Reasons that say that the call is not a conversion. The others say that it cannot be known now,
// or not any longer.
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
 * Compares each call with what was sent to a tool that finds conversions by their click, by their
 * ID, or cannot correct them. `take` gets what is to be sent about a call, and says whether it can
 * be.
 */
export async function compare(
  delivered: ReadonlyMap<string, LedgerEntry>,
  outcomes: AsyncIterable<Outcome> | Iterable<Outcome>,
  findsBy: keyof typeof corrections | null,
  take: (entry: LedgerEntry, outcome: Outcome) => boolean,
): Promise<Compared> {
  const unadjusted: Unadjusted[] = [];
  const uncertain: string[] = [];
  let unchanged = 0;
  for await (const outcome of outcomes) {
    const sid = String(outcome.call.sid);
    const old = delivered.get(sid);
    const now = 'conversion' in outcome ? entryOf(outcome.conversion) : null;
    const state = stateOf(old, outcome, now);
    if (state === 'sent') unchanged += 1;
    else if (state === 'uncertain') uncertain.push(sid);
    else if (state === 'new' && now !== null) take(now, outcome);
    if (!isChange(state)) continue;
    const actions = findsBy === null ? [] : corrections[findsBy][state];
    const send = actions.flatMap((action): LedgerEntry[] => {
      if (action === 'retract') return old && old.action !== action ? [{ ...old, action }] : [];
      return now === null || (action === 'restate' && now.value === null)
        ? []
        : [{ ...now, action }];
    });
    if (send.filter((entry) => take(entry, outcome)).length === 0)
      unadjusted.push({ sid, change: state });
  }

  return { unchanged, unadjusted, uncertain };
}

const isChange = (state: State): state is Change => state in corrections.id;

function stateOf(old: LedgerEntry | undefined, outcome: Outcome, now: LedgerEntry | null): State {
  if (old?.uncertain) return 'uncertain';
  const isRetracted = old?.action === 'retract';
  if ('leftOut' in outcome || now === null) {
    const isOver = old && !isRetracted && 'leftOut' in outcome && final.has(outcome.leftOut);
    return isOver ? 'no_conversion' : 'none';
  }

  if (!old) return 'new';
  const isSameClick = old.click?.kind === now.click?.kind && old.click?.id === now.click?.id;
  if (!isSameClick || old.at !== now.at || old.name !== now.name) return 'click_changed';
  if (isRetracted) return 'counts_again';
  const isSameValue =
    now.value === null || (now.value === old.value && now.currency === old.currency);
  return isSameValue ? 'sent' : 'value_changed';
}

/**
 * Compares calls with what was uploaded to a destination: which conversions are new, and which have
 * changed since.
 *
 * @example
 * const changes = await changesSince(ledger.delivered('google-ads-clicks'), conversions(calls,
 * rules, format), format); console.log(`${changes.add.length} new, ${changes.adjust.length} to
 * adjust`);
 */
export async function changesSince(
  delivered: ReadonlyMap<string, LedgerEntry>,
  outcomes: AsyncIterable<Outcome> | Iterable<Outcome>,
  { adjustments }: Pick<SheetFormat, 'adjustments'>,
): Promise<Changes> {
  const add: Converted[] = [];
  const adjust: LedgerEntry[] = [];
  const findsBy = adjustments === undefined ? null : 'click';
  const compared = await compare(delivered, outcomes, findsBy, (entry, outcome) => {
    // Without the call itself, which is much larger.
    if (entry.action !== 'add') adjust.push(entry);
    else if ('conversion' in outcome)
      add.push({ conversion: outcome.conversion, row: outcome.row });
    return true;
  });
  return { add, adjust, ...compared };
}
