import type { Call } from '@call-attribution/core';
import { type SyncState, syncInto, type UpsertSink } from '@call-attribution/node-stream';
import { copyVerdict, describeCopy } from '@call-attribution/node-stream/copies';
import { mirrorSink, type Store } from '@call-attribution/store';
import type { TicketNote } from '../engine/ticket.ts';
import type { TurnEnd, TurnWork } from './turn.ts';

/**
 * A sync of an account for a while: it ends at a page border, and the next turn goes on there. The state is committed with the
 * records, under the claim of the store.
 */
export async function turnIntoStore(store: Store, work: TurnWork): Promise<TurnEnd> {
  const { job, account, client, cut, signal } = work;
  const kept = watched(mirrorSink(store, account.id, work.holder), work);
  let total: number | null = null;
  try {
    const summary = await syncInto(client, kept.sink, {
      filter: job.filter,
      ...(job.from === null && job.until === null ? {} : { period: { from: job.from, to: job.until } }),
      lookback: job.lookback,
      settle: job.settle,
      onError: job.skip ? 'skip' : 'fail',
      prefetch: work.ahead,
      signal,
      onProgress: (progress) => {
        total = progress.total;
      },
    });
    const facts = factsOf(kept.state(), total);
    return {
      kind: 'round',
      note: { ...facts, whole: summary.proof === 'whole', lacks: describeCopy(summary) },
    };
  } catch (error) {
    // What was read is kept, whatever happened; a claim that was lost refuses it.
    await kept.settle();
    if (!cut.aborted) throw error;
    return { kind: 'cut', note: factsOf(kept.state(), total) };
  }
}

/** A sink that ends its turn at a page border, and whose state is then there, too. */
function watched(sink: UpsertSink, { gate, isOver, onCalls }: TurnWork) {
  let last: SyncState | null = null;
  let isSettled = true;
  const own: UpsertSink = {
    ...sink,
    async load() {
      last = await sink.load();
      return last;
    },
    leavesOut: (call: Call) => sink.leavesOut?.(call) ?? false,
    commit: (batch) =>
      gate.during(async () => {
        const outcome = await sink.commit(batch);
        last = batch.state;
        isSettled = batch.isLast;
        onCalls(batch.calls.length);
        if (isOver()) gate.close();
        return outcome;
      }),
  };
  return {
    sink: own,
    state: () => last,
    /** The state is written with pages once that is worth it, and at the end. */
    async settle(): Promise<void> {
      if (isSettled || last === null) return;
      isSettled = true;
      await sink.commit({ calls: [], state: last, isLast: true });
    },
  };
}

function factsOf(state: SyncState | null, total: number | null): Partial<TicketNote> {
  const verdict = copyVerdict(state);
  const latest =
    state?.parts
      .map((part) => part.latest ?? '')
      .sort()
      .at(-1) ?? '';
  return {
    calls: verdict === null ? 0 : verdict.calls - verdict.missing,
    ...(total === null ? {} : { total }),
    newest: latest === '' ? null : latest,
  };
}
