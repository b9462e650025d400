import { type Clock, systemClock } from '@call-attribution/core/time';
import { type Change, seenRows } from '../changes.ts';
import type { LedgerEntry } from '../entry.ts';
import type { Delivery, Ledger } from '../ledger/ledger.ts';
import { PushError } from './error.ts';

/** A change that the tool refused, by its place in the request. */
export interface ChangeRefusal {
  /** Place in the request, from 0. */
  readonly index: number;
  /** The field, as the tool names it; empty when it names none. */
  readonly field: string;
  /** The reason, as the tool names it, or its sentence without personal data. */
  readonly reason: string;
}

/** How changes are sent. */
export interface SendOptions {
  /** Only check: the tool stores nothing. */
  readonly validateOnly: boolean;
  /** When they were first sent, in milliseconds since 1970. */
  readonly now: number;
  /** Numbers of callers by the key of the entry, where they go with it. */
  readonly numbers: ReadonlyMap<string, string>;
}

/** An API that takes conversions. */
export interface PushTarget {
  /** The most changes of one request. */
  readonly most: number;
  /**
   * A request has additions only, or corrections only, so that what became of each kind is known by
   * itself.
   */
  readonly oneKind: boolean;
  /**
   * Turns changes, as the ledger notes them, into one request and sends it, repeated while the API
   * is busy or cannot be reached. `isTaken`: those that were not refused were taken; otherwise
   * nothing was.
   */
  send(
    entries: readonly LedgerEntry[],
    options: SendOptions,
  ): Promise<{
    readonly isTaken: boolean;
    readonly refusals: readonly ChangeRefusal[];
    /** For diagnostics; null when the tool has none. */
    readonly requestId: string | null;
  }>;
}

/** A call that the tool refused. */
export interface RefusedCall {
  /** Session id of the call. */
  readonly sid: string;
  /** The field, as the tool names it. */
  readonly field: string;
  /** The reason, as the tool names it. */
  readonly reason: string;
}

/** Settings of `pushConversions`. */
export interface PushOptions {
  /** Where it is noted what was sent. Without it, everything is sent. */
  readonly ledger?: Ledger | undefined;
  /** What the ledger calls the destination. Needed with a ledger. */
  readonly destination?: string | undefined;
  /** Only check: the tool stores nothing, and the ledger stays as it is. Default false. */
  readonly validateOnly?: boolean | undefined;
  /** The clock. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

/** What a push did. */
export interface PushSummary {
  /** Changes that the tool has taken, by kind. */
  readonly sent: Readonly<Record<'add' | 'restate' | 'retract', number>>;
  /**
   * Changes of an earlier run that were sent again, because nobody knew whether the tool had taken
   * them. In `sent`, too.
   */
  readonly resent: number;
  /**
   * Session ids of calls of which nobody knows whether the tool has them, because they cannot be
   * sent again as they were.
   */
  readonly uncertain: readonly string[];
  /** Calls that it refused, each with the first reason. */
  readonly refused: readonly RefusedCall[];
  /** IDs of the requests, for `diagnose`. */
  readonly requests: readonly string[];
}

/**
 * Sends changes in batches. Of a batch that the tool refuses because of some, the others are sent
 * again. Each batch is noted in the ledger before it is sent and after the tool has answered. A
 * batch that may have been taken keeps its note: the next run sends it again, as it was, before
 * anything else, so that nothing counts twice and a later change of a call is a correction of what
 * the tool has. What was sent with the number of a caller whose call is not read any more stays
 * uncertain.
 *
 * @example
 * const accepts = dataManagerAccepts({ phone: false });
 * const found = conversions(calls, rules, { accepts }, ledger.delivered('google'));
 * const summary = await pushConversions(api, await changesToSend(found), { ledger, destination: 'google' });
 */
export async function pushConversions(
  target: PushTarget,
  changes: readonly Change[],
  options: PushOptions = {},
): Promise<PushSummary> {
  const { validateOnly = false, clock = systemClock, destination = 'push' } = options;
  const ledger = validateOnly ? undefined : options.ledger;
  const sent = { add: 0, restate: 0, retract: 0 };
  const refused: RefusedCall[] = [];
  const uncertain: LedgerEntry[] = [];
  const requests: string[] = [];
  const held = new Set<string>();
  const numbers = new Map<string, string>();
  for (const { conversion } of changes)
    if (conversion && conversion.callerNumber !== null)
      numbers.set(conversion.key, conversion.callerNumber);

  const deliver = async (batch: readonly LedgerEntry[], noted?: Delivery): Promise<number> => {
    const delivery = noted ?? (await ledger?.prepare(destination, batch));
    try {
      const now = delivery?.preparedAt ?? clock.now();
      const outcome = await sendBatch(target, batch, { validateOnly, now, numbers });
      if (delivery) {
        const taken = new Set(outcome.taken.map(({ key }) => key));
        // It was taken the first time, or it never can be: there is nothing left to take back.
        for (const { entry } of outcome.refused)
          if (noted && entry.action === 'retract') taken.add(entry.key);
        const others = batch.map(({ key }) => key).filter((key) => !taken.has(key));
        await ledger?.commit(delivery, { except: others, uncertain: noted ? uncertain : [] });
      }
      for (const { action } of outcome.taken) sent[action] += 1;
      for (const { entry, field, reason } of outcome.refused) {
        refused.push({ sid: entry.sid, field, reason });
        if (!noted || entry.action !== 'retract') held.add(entry.key);
      }
      if (outcome.requestId !== null) requests.push(outcome.requestId);
      return outcome.taken.length;
    } catch (error) {
      if (delivery && isUntaken(error, noted !== undefined)) await ledger?.abandon(delivery);
      throw error;
    }
  };

  await ledger?.note(destination, seenRows(changes));
  let resent = 0;
  const noted = ledger?.pending(destination);
  if (noted && noted.files.length === 0) {
    const again: LedgerEntry[] = [];
    for (const entry of noted.entries) {
      const isLost = entry.byNumber && !numbers.has(entry.key);
      (isLost ? uncertain : again).push(entry);
    }
    for (const { key } of uncertain) held.add(key);
    resent = await deliver(again, noted);
  }

  const entries = changes
    .filter(({ kind }) => kind !== 'left-out')
    .map(({ entry }) => entry)
    .filter((entry) => entry !== null);
  for (const batch of batchesOf(entries, target)) {
    // Nothing follows a change that the tool refused: a new click would count besides one that was
    // not taken back.
    const open = batch.filter(({ key }) => !held.has(key));
    if (open.length > 0) await deliver(open);
  }

  return { sent, resent, uncertain: uncertain.map(({ sid }) => sid), refused, requests };
}

function* batchesOf(
  entries: readonly LedgerEntry[],
  { most, oneKind }: PushTarget,
): Generator<readonly LedgerEntry[]> {
  let batch: LedgerEntry[] = [];
  for (const entry of entries) {
    const isOther = oneKind && (batch[0]?.action === 'add') !== (entry.action === 'add');
    if (batch.length > 0 && (isOther || batch.length >= most)) {
      yield batch;
      batch = [];
    }
    batch.push(entry);
  }

  if (batch.length > 0) yield batch;
}

/**
 * Is it certain that the tool has not taken a batch? That a second attempt was turned away says
 * nothing about the first.
 */
function isUntaken(error: unknown, isResent: boolean): boolean {
  if (!(error instanceof PushError) || error.mayBeTaken) return false;
  return !isResent || (error.code === 'refused' && error.status === 400);
}

interface Sent {
  readonly taken: readonly LedgerEntry[];
  readonly refused: readonly (Omit<RefusedCall, 'sid'> & { readonly entry: LedgerEntry })[];
  readonly requestId: string | null;
}

async function sendBatch(
  target: PushTarget,
  batch: readonly LedgerEntry[],
  options: SendOptions,
): Promise<Sent> {
  const refused: Sent['refused'][number][] = [];
  let taken = batch;
  while (taken.length > 0) {
    const { isTaken, refusals, requestId } = await target.send(taken, options);
    const bad = new Map(refusals.toReversed().map((refusal) => [refusal.index, refusal]));
    for (const [index, entry] of taken.entries()) {
      const refusal = bad.get(index);
      if (refusal) refused.push({ entry, field: refusal.field, reason: refusal.reason });
    }
    taken = taken.filter((_, index) => !bad.has(index));
    if (isTaken) return { taken, refused, requestId };
  }

  return { taken, refused, requestId: null };
}
