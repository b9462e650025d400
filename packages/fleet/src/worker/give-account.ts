import { setAccountAside } from '../lanes/account-entry.ts';
import { accountKey } from '../lanes/keys.ts';
import type { AccountValue } from '../lanes/values.ts';
import { changeEntry } from './change-entry.ts';
import type { Reason } from './close-words.ts';
import type { WorkerEvent } from './events.ts';
import { asideOf } from './set-aside.ts';
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

/** Ends a turn by setting the account aside, with the way back. */
export function giveAside(context: TurnContext, id: string, { code, message }: Reason): Promise<void> {
  const why = asideOf(context, id, { code, message });
  return giveAccount(context, id, (mine) => setAccountAside(mine, why), { outcome: 'aside', code });
}
