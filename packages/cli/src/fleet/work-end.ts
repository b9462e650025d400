import type { FleetStatus } from '@call-attribution/fleet';
import { exitCodes } from '../exit-codes.ts';
import { refusedCodes } from '../failures/fleet.ts';
import { type Io, say } from '../io.ts';
import { count, plural } from '../term/numbers.ts';
import { whyText } from './words.ts';

/** Accounts with trouble that are named. */
const most = 10;

/** Says what has become of the job, and returns the exit status. */
export function sayEnd(status: FleetStatus, { isOwn }: { readonly isOwn: boolean }, io: Io): number {
  const { job, accounts, phases, records, state } = status;
  if (state === 'cancelled') {
    say(io, `${job.name} was cancelled; what was read is in ${job.into}`);
    return exitCodes.incomplete;
  }
  const proved = phases.final + phases.syncing;
  const all = `${count(proved)} of ${plural(accounts.length, 'account')} proved`;
  say(io, `${job.name}: ${all}, ${plural(records.done, 'record')} in ${job.into}`);
  const bad = accounts.filter(({ trouble }) => trouble !== null && trouble.kind !== 'failing');
  for (const account of bad.slice(0, most)) {
    say(io, `  ${account.id}: ${whyText(account)}`);
    if (!isOwn) say(io, `  → calls fleet retry ${job.name} --account ${account.id}`);
  }
  if (bad.length > most) say(io, `  and ${plural(bad.length - most, 'more account')}`);
  // What is on a board in memory is gone; the target knows what is committed.
  if (bad.length > 0 && isOwn)
    say(io, '  → put the reason right and run the same command; it reads only what is missing');
  if (bad.length === 0 && proved === accounts.length) return exitCodes.ok;
  const isRefused =
    bad.length === accounts.length && bad.every(({ trouble }) => refusedCodes.has(trouble?.code ?? ''));
  return isRefused ? exitCodes.refused : exitCodes.incomplete;
}
