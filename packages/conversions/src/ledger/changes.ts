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

/** How a call stands with a tool: it was never sent, was sent as it is, may have been sent, is none of its business, or has changed. */
type State = 'new' | 'sent' | 'uncertain' | 'none' | Change;

type Action = LedgerEntry['action'];

const same = { value_changed: ['restate'], no_conversion: ['retract'] } as const;

/**
 * What corrects each change. Where a tool finds a conversion by its click, another click is another conversion, and one that was
 * retracted stays so. Where it finds one by its ID, another click would stay with the first one, and a value brings it back.
 */
const corrections: Readonly<Record<'click' | 'id', Readonly<Record<Change, readonly Action[]>>>> = {
  click: { ...same, click_changed: ['retract', 'add'], counts_again: [] },
  id: { ...same, click_changed: [], counts_again: ['restate'] },
};

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

/** How a call stands with a tool, and what to send about it. */
interface Standing {
  readonly outcome: Outcome;
  readonly sid: string;
  readonly state: State;
  /** The state where it is a change. */
  readonly change: Change | null;
  readonly send: readonly LedgerEntry[];
}

/** Compares each call with what was sent to a tool that finds conversions by their click, by their ID, or cannot correct them. */
export async function* standings(
  delivered: ReadonlyMap<string, LedgerEntry>,
  outcomes: AsyncIterable<Outcome> | Iterable<Outcome>,
  findsBy: keyof typeof corrections | null,
): AsyncGenerator<Standing> {
  for await (const outcome of outcomes) {
    const now = 'leftOut' in outcome ? null : entryOf(outcome.conversion);
    const sid = now?.sid ?? String(outcome.call.sid);
    const old = delivered.get(now?.orderId ?? sid);
    const state = stateOf(old, outcome, now);
    const change = state in corrections.id ? (state as Change) : null;
    const actions = change === null || findsBy === null ? [] : corrections[findsBy][change];
    const send = actions.flatMap((action): LedgerEntry[] => {
      if (action === 'retract') return old && old.action !== action ? [{ ...old, action }] : [];
      return now === null || (action === 'restate' && now.value === null) ? [] : [{ ...now, action }];
    });
    yield { outcome, sid, state, change, send: state === 'new' && now !== null ? [now] : send };
  }
}

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
  const isSameValue = now.value === null || (now.value === old.value && now.currency === old.currency);
  return isSameValue ? 'sent' : 'value_changed';
}

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
  { adjustments }: Pick<SheetFormat, 'adjustments'>,
): Promise<Changes> {
  const add: Converted[] = [];
  const adjust: LedgerEntry[] = [];
  const unadjusted: Unadjusted[] = [];
  const uncertain: string[] = [];
  let unchanged = 0;
  const findsBy = adjustments === undefined ? null : 'click';
  for await (const { outcome, sid, state, change, send } of standings(delivered, outcomes, findsBy)) {
    if (state === 'sent') unchanged += 1;
    else if (state === 'uncertain') uncertain.push(sid);
    else if (change !== null && send.length === 0) unadjusted.push({ sid, change });
    for (const entry of send) {
      // Without the call itself, which is much larger.
      if (entry.action !== 'add') adjust.push(entry);
      else if ('conversion' in outcome) add.push({ conversion: outcome.conversion, row: outcome.row });
    }
  }
  return { add, adjust, unchanged, unadjusted, uncertain };
}
