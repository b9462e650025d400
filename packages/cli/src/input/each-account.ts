import type { Settings } from '@call-attribution/mcp-server/settings';
import type { Args } from '../args.ts';
import { CliError, ClosedPipe, Interrupted } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain, report } from '../failures.ts';
import { type Io, say } from '../io.ts';

/** An account that a command works on. */
export interface NamedAccount {
  /** What its rows are called; null when there is only one account, which needs no name. */
  readonly name: string | null;
  readonly settings: Settings;
  /** What is wrong with the settings of this account, if anything. It fails with it when its turn comes. */
  readonly problem?: CliError | null;
}

/** An account with what was worked out for it, or with a problem instead. */
export type Planned<A extends NamedAccount, P> =
  | (A & { readonly problem: CliError })
  | (A & { readonly problem?: null; readonly plan: P });

/** An account that has no problem, and so a plan where the others have one. */
export type Ready<A extends NamedAccount> = Exclude<A, { readonly problem: CliError }>;

/** The accounts without those that have a problem. */
export function ready<A extends NamedAccount>(accounts: readonly A[]): Ready<A>[] {
  return accounts.filter(isReady);
}

function isReady<A extends NamedAccount>(account: A): account is Ready<A> {
  return !account.problem;
}

/** Works something out for each account before anything is read. An error names the account. */
export async function planEach<A extends NamedAccount, P>(
  accounts: readonly A[],
  plan: (account: A) => P | Promise<P>,
): Promise<Planned<A, P>[]> {
  const planned: Planned<A, P>[] = [];
  for (const account of accounts) {
    try {
      const { problem = null } = account;
      if (problem !== null) planned.push({ ...account, problem });
      else planned.push({ ...account, problem, plan: await plan(account) });
    } catch (error) {
      throw account.name === null ? error : await ofAccount(account.name, error);
    }
  }
  return planned;
}

/**
 * Runs something for each account, one after the other, and gives what that gives. An account that fails is named on stderr and does
 * not stop the others; the exit status then says that the result is incomplete, or, when all have failed in the same way, how.
 * `onFailure` replaces what is said about such an account.
 */
export async function* inTurn<A extends NamedAccount, T>(
  accounts: readonly A[],
  args: Args,
  io: Io,
  run: (account: Ready<A>) => AsyncGenerator<T, number>,
  onFailure: (error: CliError) => unknown = (error) =>
    report(error, io, { debug: args.flag('debug'), has: args.has }),
): AsyncGenerator<T, number> {
  const statuses: number[] = [];
  const failed: string[] = [];
  for (const account of accounts) {
    const { name } = account;
    try {
      if (!isReady(account)) throw account.problem;
      const status = yield* run(account);
      if (name === null) return status;
      statuses.push(status);
    } catch (error) {
      if (name === null || stopsAll(error, io)) throw error;
      const named = await ofAccount(name, error);
      failed.push(name);
      statuses.push(named.exitCode);
      await onFailure(named);
    }
  }
  if (failed.length > 0)
    say(io, `${failed.length} of ${accounts.length} accounts failed: ${failed.join(', ')}`);
  const worst = statuses.find((status) => status !== exitCodes.ok) ?? exitCodes.ok;
  return statuses.every((status) => status === worst) ? worst : exitCodes.incomplete;
}

/** The same for what gives nothing but its exit status. */
export async function eachAccount<A extends NamedAccount>(
  accounts: readonly A[],
  args: Args,
  io: Io,
  run: (account: Ready<A>) => Promise<number>,
  onFailure?: (error: CliError) => unknown,
): Promise<number> {
  const turns = inTurn(
    accounts,
    args,
    io,
    // biome-ignore lint/correctness/useYield: it gives nothing but its exit status.
    async function* (account) {
      return run(account);
    },
    onFailure,
  );
  const { value } = await turns.next();
  return value as number;
}

/** What concerns the whole command: Ctrl-C, a reader that has gone, an output that cannot be written. */
function stopsAll(error: unknown, { signal }: Io): boolean {
  if (signal.aborted || error instanceof ClosedPipe || error instanceof Interrupted) return true;
  return error instanceof CliError && error.exitCode === exitCodes.output;
}

async function ofAccount(name: string, error: unknown): Promise<CliError> {
  const { message, exitCode, hints, detail } = await explain(error);
  return new CliError(`account ${name}: ${message}`, { exitCode, hints, detail, cause: error });
}
