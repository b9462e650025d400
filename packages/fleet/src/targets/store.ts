import { deliveredOf, describe } from '@call-attribution/node-stream/copies';
import { openStore, type Store, syncAccount } from '@call-attribution/store';
import { storeFile } from '@call-attribution/store/url';
import { lockTarget, type Target, type TurnEnd, type TurnWork } from './target.ts';

/** Pages after which a turn ends, so that others get one. */
const pagesOfTurn = 100;

/** A database as a target: each account is brought up to date as `calls sync` does it. */
export async function openStoreTarget(into: string): Promise<Target> {
  const store = await openStore(into);
  const known = new Set((await store.accounts()).map(({ id }) => id));
  const close = () => store.close();
  return {
    name: store.name,
    async prepare(isAlone) {
      await store.ping();
      const file = storeFile(into);
      if (!isAlone || file === null) return async () => {};
      return lockTarget(store.name, `${file}.fleet.lock`);
    },
    async turn(work) {
      const { id, name } = work.account;
      // An account that has a name keeps it when the job has none.
      if (!known.has(id) || name !== id) await store.putAccount({ id, name });
      known.add(id);
      return turnIntoStore(store, work);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Syncs an account. A long sync ends at a page border, and the next turn goes on there. */
async function turnIntoStore(store: Store, work: TurnWork): Promise<TurnEnd> {
  const { job, account, client, holder, signal, onCalls } = work;
  let total: number | null = null;
  let seen = 0;
  const summary = await syncAccount(client, store, {
    account: account.id,
    holder,
    signal,
    filter: job.filter,
    maxPages: pagesOfTurn,
    ...(job.from === null && job.until === null
      ? {}
      : { period: { from: job.from, to: job.until } }),
    lookback: job.lookback,
    settle: job.settle,
    onError: job.skip ? 'skip' : 'fail',
    onProgress: (progress) => {
      onCalls(Math.max(0, progress.done - seen));
      seen = Math.max(seen, progress.done);
      total = progress.total;
    },
  });
  const note = {
    calls: deliveredOf(summary),
    ...(total === null ? {} : { total }),
    newest: summary.latest,
  };
  if (summary.gaps.some(({ why }) => why === 'unread')) return { kind: 'cut', note };
  return {
    kind: 'round',
    note: { ...note, whole: summary.proof === 'whole', lacks: describe(summary).lacks },
  };
}
