import { accountKey } from '../lanes/keys.ts';
import type { AccountValue } from '../lanes/values.ts';
import { changeEntry } from './change-entry.ts';
import type { WorkerEvent } from './events.ts';
import type { TurnContext } from './turn.ts';

/** What became of an account in a turn. */
export type AccountEvent = Omit<Extract<WorkerEvent, { kind: 'account' }>, 'kind' | 'account'>;

/** Ends a turn: writes what comes next, and tells so, unless somebody else has taken the account meanwhile. */
export async function giveAccount(
  { board, holder, emit }: Pick<TurnContext, 'board' | 'holder' | 'emit'>,
  id: string,
  change: (account: AccountValue) => AccountValue,
  event: AccountEvent,
): Promise<void> {
  const written = await changeEntry<AccountValue>(board, accountKey(id), (mine) =>
    mine.by === holder ? change(mine) : null,
  );
  if (written !== null) emit({ kind: 'account', account: id, ...event });
}
