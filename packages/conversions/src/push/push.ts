import { type Clock, systemClock } from '@call-attribution/core/time';
import type { LedgerEntry } from '../entry.ts';
import type { Delivery, Ledger } from '../ledger/ledger.ts';
import { PushError } from './error.ts';

/**
 * A change of what a tool has: a conversion that is new, worth something else, or no longer one.
 */
export interface ConversionChange {
  /** What the ledger will say about it. Its action is the kind of the change. */
  readonly entry: LedgerEntry;
  /** The number of the caller; null unless it may be used to match the call. */
  readonly callerNumber: string | null;
}

/** A change that the tool refused, by its place in the request. */
export interface ChangeRefusal {
  /** Place in the request, from 0. */
  readonly index: number;
  /** The field, as the tool names it; empty when it names none. */
  readonly field: string;
  /** The reason, as the tool names it, or its sentence without personal data. */
  readonly reason: string;
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
   * Sends changes in one request, repeated while the API is busy or cannot be reached. `isTaken`:
   * those that were not refused were taken; otherwise nothing was.
   */
  send(
    changes: readonly ConversionChange[],
    options: { readonly validateOnly: boolean; readonly now: number },
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
  /**
   * Numbers of callers, as `changesToPush` found them: what was sent with one is only sent again
   * with it.
   */
  readonly numbers?: ReadonlyMap<string, string> | undefined;
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
 * const { changes } = await changesToPush('google', ledger.delivered('google'), conversions(calls,
 * rules, tool)); const summary = await pushConversions(api, changes, { ledger, destination:
 * 'google' });
 */
export async function pushConversions(
  target: PushTarget,
  changes: readonly ConversionChange[],
  options: PushOptions = {},
): Promise<PushSummary> {
  const { validateOnly = false, clock = systemClock, destination = 'push', numbers } = options;
  const ledger = validateOnly ? undefined : options.ledger;
  const sent = { add: 0, restate: 0, retract: 0 };
  const refused: RefusedCall[] = [];
  const uncertain: LedgerEntry[] = [];
  const requests: string[] = [];
  const held = new Set<string>();

  const deliver = async (batch: readonly ConversionChange[], noted?: Delivery): Promise<number> => {
    const delivery = noted ?? (await ledger?.prepare(destination, batch.map(asSent)));
    try {
      const outcome = await sendBatch(
        target,
        batch,
        validateOnly,
        delivery?.preparedAt ?? clock.now(),
      );
      if (delivery) {
        const taken = new Set(outcome.taken.map(({ entry }) => entry.sid));
        // It was taken the first time, or it never can be: there is nothing left to take back.
        for (const { entry } of outcome.refused)
          if (noted && entry.action === 'retract') taken.add(entry.sid);
        const others = batch.map(({ entry }) => entry.sid).filter((id) => !taken.has(id));
        await ledger?.commit(delivery, { except: others, uncertain: noted ? uncertain : [] });
      }
      for (const { entry } of outcome.taken) sent[entry.action] += 1;
      for (const { entry, field, reason } of outcome.refused) {
        refused.push({ sid: entry.sid, field, reason });
        if (!noted || entry.action !== 'retract') held.add(entry.sid);
      }
      if (outcome.requestId !== null) requests.push(outcome.requestId);
      return outcome.taken.length;
    } catch (error) {
      if (delivery && isUntaken(error, noted !== undefined)) await ledger?.abandon(delivery);
      throw error;
    }
  };

  let resent = 0;
  const noted = ledger?.pending(destination);
  if (noted && noted.files.length === 0) {
    const again: ConversionChange[] = [];
    for (const entry of noted.entries) {
      const callerNumber = (entry.byNumber && numbers?.get(entry.sid)) || null;
      if (entry.byNumber && callerNumber === null) uncertain.push(entry);
      else again.push({ entry, callerNumber });
    }
    for (const { sid } of uncertain) held.add(sid);
    resent = await deliver(again, noted);
  }

  for (const batch of batchesOf(changes, target)) {
    // Nothing follows a change that the tool refused: a new click would count besides one that was
    // not taken back.
    const open = batch.filter(({ entry }) => !held.has(entry.sid));
    if (open.length > 0) await deliver(open);
  }

  return { sent, resent, uncertain: uncertain.map(({ sid }) => sid), refused, requests };
}

/** What the ledger notes of a change, so that it can be sent again as it was. */
function asSent({ entry, callerNumber }: ConversionChange): LedgerEntry {
  const { byNumber: _, ...rest } = entry;
  return callerNumber === null ? rest : { ...rest, byNumber: true };
}

function* batchesOf(
  changes: readonly ConversionChange[],
  { most, oneKind }: PushTarget,
): Generator<readonly ConversionChange[]> {
  let batch: ConversionChange[] = [];
  for (const change of changes) {
    const isOther =
      oneKind && (batch[0]?.entry.action === 'add') !== (change.entry.action === 'add');
    if (batch.length > 0 && (isOther || batch.length >= most)) {
      yield batch;
      batch = [];
    }
    batch.push(change);
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
  readonly taken: readonly ConversionChange[];
  readonly refused: readonly (ConversionChange & Omit<RefusedCall, 'sid'>)[];
  readonly requestId: string | null;
}

async function sendBatch(
  target: PushTarget,
  batch: readonly ConversionChange[],
  validateOnly: boolean,
  now: number,
): Promise<Sent> {
  const refused: Sent['refused'][number][] = [];
  let taken = batch;
  while (taken.length > 0) {
    const { isTaken, refusals, requestId } = await target.send(taken, { validateOnly, now });
    const bad = new Map(refusals.toReversed().map((refusal) => [refusal.index, refusal]));
    for (const [index, change] of taken.entries()) {
      const refusal = bad.get(index);
      if (refusal) refused.push({ ...change, field: refusal.field, reason: refusal.reason });
    }
    taken = taken.filter((_, index) => !bad.has(index));
    if (isTaken) return { taken, refused, requestId };
  }

  return { taken, refused, requestId: null };
}
