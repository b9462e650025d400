import { setAccountAside } from '../lanes/account-entry.ts';
import { accountKey } from '../lanes/keys.ts';
import type { AccountValue, Aside } from '../lanes/values.ts';
import { keepTrying } from './keep-trying.ts';
import { brief, type Trouble } from './trouble.ts';
import type { WorkerContext } from './turn.ts';

/** Takes an account out of the work, with the way back. */
export async function setAsideFor(context: WorkerContext, account: string, trouble: Trouble): Promise<void> {
  const why = asideOf(context, account, trouble);
  context.emit({ kind: 'account', account, outcome: 'aside', code: trouble.code });
  await keepTrying<AccountValue>(context, accountKey(account), (value) =>
    value.phase === 'aside' || value.phase === 'final' ? null : setAccountAside(value, why),
  );
}

/** Why an account is set aside: what happened, and what to do then. */
export function asideOf(
  context: Pick<WorkerContext, 'board' | 'holder' | 'job'>,
  account: string,
  { code, message }: Pick<Trouble, 'code' | 'message'>,
): Aside {
  const wayBack = ` Once that is put right: calls fleet retry ${context.job.name} --account ${account}`;
  return troubleNote(context, { code, message: brief(message, 300 - wayBack.length) + wayBack });
}

/** Trouble as it is kept on the board. */
export function troubleNote(
  { board, holder }: Pick<WorkerContext, 'board' | 'holder'>,
  { code, message }: Pick<Trouble, 'code' | 'message'>,
): Aside {
  return { code, message, at: board.now(), by: holder };
}
