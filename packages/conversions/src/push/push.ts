import { type Clock, systemClock } from '@call-attribution/core';
import type { Ledger } from '../ledger/ledger.ts';
import type { ConversionChange, PushTarget } from './target.ts';

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
  /** Changes in one request. Default, and at most: what the tool takes. */
  readonly batch?: number | undefined;
  /** The clock. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

/** What a push did. */
export interface PushSummary {
  /** Changes that the tool has taken, by kind. */
  readonly sent: Readonly<Record<'add' | 'restate' | 'retract', number>>;
  /** Calls that it refused, each with the first reason. */
  readonly refused: readonly RefusedCall[];
  /** IDs of the requests, for `diagnose`. */
  readonly requests: readonly string[];
}

/**
 * Sends changes in batches. Of a batch that the tool refuses because of some, the others are sent again. Each batch
 * is noted in the ledger before it is sent and after it was taken; a batch of which a crash has left only the first note is
 * sent again, under the same transaction IDs, so that nothing counts twice.
 *
 * @example
 * const { changes } = await changesToPush(ledger.delivered('google'), conversions(calls, rules, tool));
 * const summary = await pushConversions(api, changes, { ledger, destination: 'google' });
 */
export async function pushConversions(
  target: PushTarget,
  changes: readonly ConversionChange[],
  options: PushOptions = {},
): Promise<PushSummary> {
  const { validateOnly = false, clock = systemClock, destination = 'push' } = options;
  const ledger = validateOnly ? undefined : options.ledger;
  const size = Math.min(options.batch ?? target.most, target.most);
  const sent = { add: 0, restate: 0, retract: 0 };
  const refused: RefusedCall[] = [];
  const requests: string[] = [];

  const unfinished = ledger?.pending(destination);
  if (unfinished) await ledger?.abandon(unfinished);
  for (let at = 0; at < changes.length; at += size) {
    const batch = changes.slice(at, at + size);
    const delivery = await ledger?.prepare(
      destination,
      batch.map(({ entry }) => entry),
    );
    try {
      const outcome = await sendBatch(target, batch, validateOnly, clock.now());
      if (delivery)
        await ledger?.commit(delivery, { except: outcome.refused.map(({ entry }) => entry.orderId) });
      for (const { entry } of outcome.taken) sent[entry.action] += 1;
      refused.push(...outcome.refused.map(({ entry, field, reason }) => ({ sid: entry.sid, field, reason })));
      if (outcome.requestId !== null) requests.push(outcome.requestId);
    } catch (error) {
      // Whether the tool has taken it or not, sending it again is safe.
      if (delivery && ledger?.pending(destination)) await ledger.abandon(delivery);
      throw error;
    }
  }
  return { sent, refused, requests };
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
