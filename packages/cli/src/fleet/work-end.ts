import type { FleetStatus } from '@call-attribution/fleet';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { count, plural } from '../term/numbers.ts';
import { whyText } from './words.ts';

/** Accounts with trouble that are named. */
const most = 10;

/** Says what has become of the job, and returns the exit status. */
export function sayEnd(status: FleetStatus, { isOwn }: { readonly isOwn: boolean }, io: Io): number {
  const { job, into, accounts, calls } = status;
  const proved = accounts.filter(({ state, whole }) => state !== 'aside' && whole === true).length;
  say(
    io,
    `${job}: ${count(proved)} of ${plural(accounts.length, 'account')} proved, ${plural(calls, 'call')} in ${into}`,
  );
  const bad = accounts.filter(({ state, whole }) => state === 'aside' || whole !== true);
  for (const account of bad.slice(0, most)) {
    say(io, `  ${account.id}: ${whyText(account)}`);
    if (!isOwn) say(io, `  → calls fleet retry ${job} --account ${account.id}`);
  }
  if (bad.length > most) say(io, `  and ${plural(bad.length - most, 'more account')}`);
  // What is in memory is gone; the target knows what is committed.
  if (bad.length > 0 && isOwn)
    say(io, '  → correct the cause and run the same command again; it reads only what is missing');
  if (bad.length === 0) return exitCodes.ok;
  const isRefused =
    bad.length === accounts.length && bad.every(({ trouble }) => trouble?.kind === 'credential');
  return isRefused ? exitCodes.refused : exitCodes.incomplete;
}
