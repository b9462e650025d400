import { type DataManager, mostEvents } from './google-data-manager.ts';
import { type ConversionChange, dataManagerEvent } from './google-events.ts';

/** A call that the tool refused. */
export interface RefusedCall {
  /** Session id of the call. */
  readonly sid: string;
  /** The field, as the tool names it. */
  readonly field: string;
  /** The reason, as the tool names it. */
  readonly reason: string;
}

/** A batch that the tool has taken. */
export interface SentBatch {
  /** What was sent, without what the tool refused. */
  readonly changes: readonly ConversionChange[];
  /** ID of the request, for diagnostics. */
  readonly requestId: string;
}

/** Settings of `pushConversions`. */
export interface PushOptions {
  /** Only check: the tool stores nothing. Default false. */
  readonly validateOnly?: boolean;
  /** Changes in one request, at most 2,000. Default 2,000. */
  readonly batch?: number;
  /** The present, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
  /** Called after each batch that was taken, before the next one is sent: the place for a ledger. */
  readonly onSent?: (batch: SentBatch) => Promise<void> | void;
}

/** What a push did. */
export interface PushSummary {
  /** Changes that the tool has taken, by kind. */
  readonly sent: Readonly<Record<ConversionChange['kind'], number>>;
  /** Calls that it refused, each with the first reason. */
  readonly refused: readonly RefusedCall[];
  /** IDs of the requests. */
  readonly requests: readonly string[];
}

/**
 * Sends changes in batches. When the tool refuses some of a batch, they are left out and the others are sent again. A run
 * that ends early has sent whole batches, and has called `onSent` for each.
 *
 * @example
 * const summary = await pushConversions(api, changes, { onSent: (batch) => ledger.keep(batch) });
 */
export async function pushConversions(
  api: DataManager,
  changes: Iterable<ConversionChange> | AsyncIterable<ConversionChange>,
  options: PushOptions = {},
): Promise<PushSummary> {
  const { validateOnly = false, batch: size = mostEvents, now = Date.now, onSent } = options;
  const sent = { add: 0, restate: 0, retract: 0 };
  const refused: RefusedCall[] = [];
  const requests: string[] = [];

  const send = async (whole: readonly ConversionChange[]): Promise<void> => {
    let left = whole;
    while (left.length > 0) {
      const events = left.map((change) => dataManagerEvent(change, now()));
      const outcome = await api.ingest(events, { validateOnly });
      if ('requestId' in outcome) {
        for (const { kind } of left) sent[kind] += 1;
        if (outcome.requestId !== '') requests.push(outcome.requestId);
        if (!validateOnly) await onSent?.({ changes: left, requestId: outcome.requestId });
        return;
      }
      const bad = new Map(outcome.refusals.toReversed().map((refusal) => [refusal.index, refusal]));
      for (const [index, { field, reason }] of [...bad].sort(([a], [b]) => a - b)) {
        const { sid } = (left[index] as ConversionChange).conversion;
        refused.push({ sid, field, reason });
      }
      left = left.filter((_, index) => !bad.has(index));
    }
  };

  let batch: ConversionChange[] = [];
  for await (const change of changes) {
    batch.push(change);
    if (batch.length < Math.min(size, mostEvents)) continue;
    await send(batch);
    batch = [];
  }
  await send(batch);
  return { sent, refused, requests };
}
