import type { Client } from '@call-attribution/core';
import { accountLater, giveAccountBack, setAccountAside } from '../lanes/account-entry.ts';
import { accountKey } from '../lanes/keys.ts';
import type { AccountValue } from '../lanes/values.ts';
import { keepTrying } from './keep-trying.ts';
import { asideOf, setAsideFor, troubleNote } from './set-aside.ts';
import { retryWait, type Trouble, troubleKinds, troubleOf } from './trouble.ts';
import type { AccountTurn, WorkerContext } from './turn.ts';

/**
 * Closes or syncs an account that this worker has taken. Never throws. Returns the trouble that keeps the whole worker from
 * working, if any.
 */
export async function accountTurn(
  context: WorkerContext,
  turn: AccountTurn,
  account: AccountValue,
): Promise<Trouble | null> {
  const { board, holder, signal, job } = context;
  const change = (next: (value: AccountValue) => AccountValue): Promise<void> =>
    keepTrying<AccountValue>(context, accountKey(account.id), (value) =>
      value.by === holder ? next(value) : null,
    );
  const began = performance.now();
  let client: Client | null = null;
  const clientOf = async (value: AccountValue): Promise<Client> => {
    client = await context.clientOf(value);
    return client;
  };
  try {
    signal.throwIfAborted();
    await turn({ ...context, clientOf }, account);
    // Whatever the turn has written, it is over.
    await change(giveAccountBack);
    return null;
  } catch (error) {
    if (signal.aborted) {
      await change(giveAccountBack);
      return null;
    }
    const trouble = troubleOf(error);
    const { kind, code } = trouble;
    if (kind === 'lost' || kind === 'target') {
      await change(giveAccountBack);
      return kind === 'target' ? trouble : null;
    }
    if (kind === 'credential') {
      // Keys may have been replaced since the worker asked for them.
      if (await context.refused(account.id, client, began)) await change(giveAccountBack);
      else await setAsideFor(context, account.id, trouble);
      return null;
    }
    const tries = kind === 'parcel' ? triesOf(account) + 1 : 0;
    if (tries >= job.tries) {
      context.emit({ kind: 'account', account: account.id, outcome: 'aside', code });
      await change((value) => setAccountAside(value, asideOf(context, account.id, trouble)));
      return null;
    }
    const wait = Math.max(trouble.waitMs, retryWait(account.tries + 1));
    context.emit({ kind: 'account', account: account.id, outcome: 'later', code });
    await change((value) => accountLater(value, troubleNote(context, trouble), board.now() + wait));
    return null;
  }
}

/** Failures in a row, unless the last one was the server's: such do not count towards setting aside. */
function triesOf({ tries, aside }: AccountValue): number {
  const kind = (troubleKinds as Readonly<Record<string, string>>)[aside?.code ?? ''];
  return kind === undefined || kind === 'parcel' ? tries : 0;
}
