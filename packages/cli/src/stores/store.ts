import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { openToForget } from '@call-attribution/conversions';
import { isPhoneNumber } from '@call-attribution/core/record';
import { periodStart } from '@call-attribution/core/time';
import type { Handler } from '../args.ts';
import { askHidden, canAsk } from '../config/prompt.ts';
import { CliError, UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { accountOf, onStore, print } from './on-store.ts';

/** `calls store purge`: deletes older calls. */
export const purge = onStore(async (store, args, io) => {
  const account = args.need('account');
  const before = args.need('before');
  const border = periodStart(before);
  if (border === null)
    throw new UsageError(`--before is ${JSON.stringify(before)}, which is not a time that exists`, {
      hints: ['write a day or a time of the account: 2024-01-01, "2024-01-01 08:30:00"'],
    });
  await accountOf(store, account);
  await print(io, { purged: await store.purge(account, border) });
});

/** `calls store erase`: deletes the calls of callers, now and in the future. */
export const erase: Handler = async (args, io) => {
  const numbers = numbersOf(canAsk(io) ? await askHidden('Number of the caller', io) : await text(io.stdin));
  return onStore(async (store) => {
    const account = args.need('account');
    await accountOf(store, account);
    const ledgers = await openLedgers(args.list('ledger'), io);
    try {
      const { deleted, sids, remains } = await store.erase(
        account,
        numbers.map(({ number }) => number),
      );
      await ledgers.forget(sids);
      for (const [at, { line }] of numbers.entries()) await print(io, { line, erased: deleted[at] ?? 0 });
      if (remains.includes('vacuum'))
        say(
          io,
          'PostgreSQL keeps deleted rows until it is told to write the tables again: VACUUM FULL records, claims, journals; then in its ' +
            'write-ahead log, replicas and backups for as long as you keep these',
        );
      if (remains.includes('in_use'))
        say(
          io,
          `another process uses ${store.name}: end it and run the same command again, so that no byte is left in the file`,
        );
      say(
        io,
        'not searched, and to be cleaned by you: files that were exported before: export again, or delete them; ' +
          `other copies of account ${account} (stores, the copy of calls mcp, backups): run the same command there; ` +
          'ledgers of calls push, calls sheet and feeds: name each with --ledger in the same command',
      );
    } finally {
      await ledgers.close();
    }
  })(args, io);
};

/** A number to erase, and the line that it stands in. */
interface TypedNumber {
  readonly line: number;
  readonly number: string;
}

/** The numbers of some lines, each checked. Never says what a line has: it may be another personal value. */
function numbersOf(text: string): readonly TypedNumber[] {
  const typed = text
    .split(/\r\n|[\r\n]/)
    .map((number, i) => ({ line: i + 1, number: number.replace(/^\uFEFF/, '').trim() }))
    .filter(({ number }) => number !== '');
  const hints = ['a number is not an option, so that it stays out of the shell history'];
  if (typed.length === 0)
    throw new UsageError(
      'calls store erase needs the number of the caller on stdin, or several, one a line',
      { hints },
    );
  const wrong = typed.filter(({ number }) => !isPhoneNumber(number)).map(({ line }) => line);
  if (wrong.length === 0) return typed;
  const shown = wrong.slice(0, 10).join(', ');
  const more = wrong.length > 10 ? ' and more' : '';
  const lines = wrong.length === 1 ? `line ${shown} of stdin is` : `lines ${shown}${more} of stdin are`;
  throw new UsageError(`${lines} not a phone number and nothing else; nothing was erased`, {
    hints: ['write one number a line, such as +1 312 555 0199'],
  });
}

/** Opens the ledgers of `--ledger` before anything is erased: one that is in use or damaged is found out in time. */
async function openLedgers(files: readonly string[], io: Io) {
  const opened: { readonly shown: string; readonly ledger: Awaited<ReturnType<typeof openToForget>> }[] = [];
  const close = async () => {
    for (const { ledger } of opened.splice(0)) await ledger.close();
  };
  for (const shown of new Set(files)) {
    try {
      // A ledger is created where there is none.
      if (!existsSync(resolve(io.cwd, shown)))
        throw new UsageError(`--ledger ${shown}: there is no such file`);
      opened.push({ shown, ledger: await openToForget(resolve(io.cwd, shown)) });
    } catch (error) {
      await close();
      if (error instanceof UsageError || !(error instanceof Error)) throw error;
      throw new CliError(`--ledger ${shown}: ${error.message.replace(/\.$/, '')}; nothing was erased`, {
        cause: error,
      });
    }
  }
  return {
    async forget(sids: readonly string[]): Promise<void> {
      const gone = new Set(sids);
      for (const { shown, ledger } of opened)
        if (await ledger.forget(gone)) say(io, `${shown}: what it said about these calls is removed`);
    },
    close,
  };
}
