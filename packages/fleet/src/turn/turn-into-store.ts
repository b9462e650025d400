import { describeCopy } from '@call-attribution/node-stream/copies';
import { type Store, syncAccount } from '@call-attribution/store';
import type { TurnEnd, TurnWork } from './turn.ts';

/** Pages after which a turn ends, so that others get one. */
const pagesOfTurn = 100;

/** Syncs an account, as `calls sync` does. A long sync ends at a page border, and the next turn goes on there. */
export async function turnIntoStore(store: Store, work: TurnWork): Promise<TurnEnd> {
  const { job, account, client, holder, signal, onCalls } = work;
  let total: number | null = null;
  let seen = 0;
  const summary = await syncAccount(client, store, {
    ...{ account: account.id, holder, signal, filter: job.filter, maxPages: pagesOfTurn },
    ...(job.from === null && job.until === null ? {} : { period: { from: job.from, to: job.until } }),
    ...{ lookback: job.lookback, settle: job.settle, onError: job.skip ? 'skip' : 'fail' },
    onProgress: (progress) => {
      onCalls(Math.max(0, progress.done - seen));
      seen = Math.max(seen, progress.done);
      total = progress.total;
    },
  });
  const note = {
    calls: summary.calls - summary.missing,
    ...(total === null ? {} : { total }),
    newest: summary.latest,
  };
  if (summary.gaps.some(({ why }) => why === 'unread')) return { kind: 'cut', note };
  return {
    kind: 'round',
    note: { ...note, whole: summary.proof === 'whole', lacks: describeCopy(summary) },
  };
}
