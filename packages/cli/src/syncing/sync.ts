import { describeCopy } from '@call-attribution/node-stream/copies';
import { createSyncStatus, type SyncStatus } from '@call-attribution/node-stream/status';
import type { Args } from '../args/command.ts';
import { type CliError, codeOf } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { sayBadRecords } from '../reading/bad-records.ts';
import { clientsOf } from '../reading/connect.ts';
import { eachAccount, type NamedAccount } from '../reading/each-account.ts';
import { type Copy, openCopy } from '../stores/copy.ts';
import { count, duration } from '../term/numbers.ts';
import { type AccountSync, openAccountSync, type SyncRun } from './account-sync.ts';
import { planSync, type ReadyAccount, type SyncPlan, type SyncScope } from './plan.ts';
import { untilOpen } from './repeat.ts';

/** A copy, and what fills it from each account. */
export interface Sync {
  readonly copy: Copy;
  /** How the runs are doing. */
  readonly status: SyncStatus;
  /** Runs something with each account, with the credentials of that account; see `eachAccount`. */
  each(
    run: (sync: AccountSync) => Promise<number>,
    onFailure?: (error: CliError) => unknown,
  ): Promise<number>;
  close(): Promise<void>;
}

/** Opens the store that the options and settings name, for the accounts that they choose. */
export async function openSync(args: Args, io: Io, scope: SyncScope): Promise<Sync> {
  const { accounts, store } = await planSync(args, io, scope);
  const status = createSyncStatus({
    every: scope.everyMs ?? Number.POSITIVE_INFINITY,
    accounts: accounts.map(labelOf),
    failsAtOnce: scope.failsAtOnce,
    clock: io.clock,
  });
  const clients = clientsOf(args, io, { ask: true });
  let stopServing = (): void => undefined;
  const close = async (): Promise<void> => {
    stopServing();
    await clients.close();
  };
  try {
    // A missing key is reported before a store is created.
    const [only, ...others] = accounts;
    if (only && others.length === 0) await clients.of(only);
    if (scope.serve) stopServing = await scope.serve(status);
    const copy = await untilOpen(() => openCopy(store, io, scope.copy), scope, io);
    const open = (account: ReadyAccount): Promise<AccountSync> =>
      clients.of(account).then((client) => openAccountSync(account, client, copy, scope, args, io));
    return {
      copy,
      status,
      each: eachOf(accounts, open, status, args, io),
      async close() {
        await copy.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Runs something with each account, and reports to the status how it ended. What was opened for an account is kept. */
function eachOf(
  accounts: SyncPlan['accounts'],
  open: (account: ReadyAccount) => Promise<AccountSync>,
  status: SyncStatus,
  args: Args,
  io: Io,
): Sync['each'] {
  const syncs = new Map<NamedAccount, AccountSync>();
  return (run, onFailure) =>
    eachAccount(
      accounts,
      args,
      io,
      async (account) => {
        const once = async (sync: AccountSync): Promise<SyncRun> => {
          const done = await sync.once();
          status.succeeded(labelOf(account), done.summary, done.tookMs);
          return done;
        };
        try {
          const sync = syncs.get(account) ?? (await open(account));
          syncs.set(account, sync);
          return await run({ ...sync, once: () => once(sync) });
        } catch (error) {
          if (!io.signal.aborted) status.failed(labelOf(account), codeOf(error));
          throw error;
        }
      },
      onFailure,
    );
}

/** The account in metrics; an account without a name is the only one. */
const labelOf = ({ name }: Pick<NamedAccount, 'name'>): string => name ?? 'main';

/** Says what a sync did. Returns the exit status. */
export function saySync(
  { summary, bad, tookMs }: SyncRun,
  { account, name }: { readonly account: string; readonly name: string },
  io: Io,
): number {
  const { new: added, changed, same, pending } = summary;
  const figures = [
    `${count(added)} new`,
    `${count(changed)} changed`,
    `${count(same)} the same`,
    ...(pending > 0 ? [`${count(pending)} not final yet`] : []),
  ];
  say(io, `${name}, account ${account}: ${figures.join(', ')} (${duration(tookMs)})`);
  const code = sayBadRecords(bad, summary.skipped, io);
  const lacks = describeCopy(summary);
  if (lacks === null) return code;
  say(io, `account ${account}: ${lacks}; the next run ${nextStep(summary)}`);
  return exitCodes.incomplete;
}

/** What the next run does about what is not whole. */
const nextStep = ({ gaps }: Pick<SyncRun['summary'], 'gaps'>): string =>
  gaps.every(({ is }) => is === 'unread') ? 'goes on there' : 'reads them again';
