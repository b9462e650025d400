import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { openToForget } from '@call-attribution/conversions';
import { isPhoneNumber } from '@call-attribution/core/record';
import { periodStart } from '@call-attribution/core/time';
import { parse } from '@call-attribution/query-dsl';
import { type Account, type Purge, type Store, selectionOf } from '@call-attribution/store';
import type { Args, Handler } from '../../args.ts';
import { CliError, exitCodes, UsageError } from '../../errors.ts';
import { type Io, say, write } from '../../io.ts';
import { needStore, openChosen } from '../../stores/open.ts';
import { plural } from '../../terminal/numbers.ts';
import { ask, askHidden, canAsk } from '../../terminal/prompt.ts';
import { whileWaiting } from '../../terminal/waiting.ts';
import { readFileSettings } from '../typed/settings.ts';

/**
 * A command over an open store, which only some of them create. What it resolves with is its exit
 * status, if it is a number.
 */
const onStore =
  (run: (store: Store, args: Args, io: Io) => Promise<unknown>, { create = false } = {}): Handler =>
  (args, io) =>
    whileWaiting('waiting for the store', async () => {
      const settings = readFileSettings(args, io);
      const store = await openChosen(needStore(args.text('store'), settings, io), settings, {
        create,
      });
      try {
        const status = await run(store, args, io);
        return typeof status === 'number' ? status : exitCodes.ok;
      } finally {
        await store.close();
      }
    });

/** One result as a line of JSON. */
function print(io: Io, value: object): Promise<void> {
  return write(io.stdout, `${JSON.stringify(value)}\n`);
}

/** The account with this ID, or an error that says which there are. */
async function accountOf(store: Store, id: string): Promise<Account> {
  const accounts = await store.accounts();
  const account = accounts.find((found) => found.id === id);
  if (account !== undefined) return account;
  const all = accounts.map(({ id, name }) => (name === id ? id : `${id} (${name})`));
  const some = `it has ${all.slice(0, 10).join(', ')}${all.length > 10 ? ' and more' : ''}`;
  throw new UsageError(`the store has no account ${id}`, [
    all.length === 0 ? 'nothing was synced yet: calls sync fills it' : some,
  ]);
}

/**
 * `calls store accounts`: lists and adds accounts of a store, makes and revokes their keys,
 * disables and enables them.
 */
export const storeAccounts: Handler = (args, io) => {
  const action = args.words[0] ?? 'list';
  return onStore((store, args, io) => act(action, store, args, io), { create: action === 'add' })(
    args,
    io,
  );
};

async function act(action: string, store: Store, args: Args, io: Io): Promise<void> {
  switch (action) {
    case 'list':
      for (const account of await store.accounts()) {
        const credentials = await store.credentials(account.id);
        const shown = credentials.map(({ id, kind, revoked }) => ({ id, kind, revoked }));
        await print(io, { ...account, credentials: shown });
      }
      return;
    case 'add': {
      const id = typed('account', action, args);
      return store.putAccount({ id, name: args.text('name') ?? id });
    }
    case 'revoke':
      if (await store.revokeCredential(typed('credential', action, args))) return;
      throw new UsageError('there is no such credential', [
        'calls store accounts list shows the IDs',
      ]);
    case 'key': {
      const { id } = await accountOf(store, typed('account', action, args));
      const random = () => randomBytes(24).toString('base64url');
      const keys = { accessKey: random(), secretKey: random(), bearerToken: random() };
      await store.putCredential(id, {
        kind: 'keys',
        accessKey: keys.accessKey,
        secretKey: keys.secretKey,
      });
      await store.putCredential(id, { kind: 'bearer', token: keys.bearerToken });
      // They are printed once; the store keeps their hashes only.
      return print(io, { id, ...keys });
    }
    default: {
      const account = await accountOf(store, typed('account', action, args));
      return store.putAccount({ ...account, disabled: action === 'disable' });
    }
  }
}

function typed(option: string, action: string, args: Args): string {
  const value = args.text(option);
  if (value !== null) return value;
  throw new UsageError(`calls store accounts ${action} needs --${option} ID`, [
    'calls store accounts list shows the IDs',
  ]);
}

/** `calls store purge`: deletes older calls, once somebody has said so. */
export const purge = onStore(async (store, args, io) => {
  const account = args.need('account');
  const before = args.need('before');
  const border = periodStart(before);
  if (border === null)
    throw new UsageError(`--before is ${JSON.stringify(before)}, which is not a time that exists`, [
      'write a day or a time of the account: 2024-01-01, "2024-01-01 08:30:00"',
    ]);

  await accountOf(store, account);
  const older = parse(`date_added:[* TO ${border}}`, { version: 'v3' });
  const calls = await store.count(account, selectionOf(older, { extensions: true }));
  const what = `${plural(calls, 'call')} of account ${account} from before ${border}`;
  if (args.flag('dry-run')) {
    await print(io, { purged: 0, wouldPurge: calls });
    say(io, `${what}; nothing was deleted`);
    return exitCodes.ok;
  }

  if (!args.flag('yes')) {
    if (!canAsk(io))
      throw new UsageError(`this deletes ${what}, for good; nothing was deleted`, [
        'add --yes to delete them; --dry-run only counts them',
      ]);
    if (!/^y/i.test(await ask(`Delete ${what}, for good? y or n`, 'n', io)))
      throw new UsageError('nothing was deleted', ['--dry-run only counts them']);
  }

  const { deleted, remains } = await store.purge(account, border);
  await print(io, { purged: deleted });
  sayRemains(remains, store, io);
  return exitCodes.ok;
});

/** `calls store erase`: deletes the calls of callers, now and in the future. */
export const erase: Handler = async (args, io) => {
  const numbers = numbersOf(
    canAsk(io) ? await askHidden('Number of the caller', io) : await text(io.stdin),
  );
  return onStore(async (store) => {
    const account = args.need('account');
    await accountOf(store, account);
    const ledgers = await openLedgers(args.list('ledger'), io);
    try {
      const { deleted, remains } = await store.erase(
        account,
        numbers.map(({ number }) => number),
        { before: (sids) => ledgers.forget(sids) },
      );
      for (const [at, { line }] of numbers.entries())
        await print(io, { line, erased: deleted[at] ?? 0 });
      sayRemains(remains, store, io);
      say(
        io,
        'not searched, and to be cleaned by you: files that were exported before: export again, or delete them; ' +
          `other copies of account ${account} (stores, backups): run the same command there; ` +
          'copies of calls mcp: delete them, they are read again; ' +
          'ledgers of calls push, calls sheet and feeds: name each with --ledger in the same command',
      );
    } finally {
      await ledgers.close();
    }
  })(args, io);
};

/** Says where bytes of what was deleted are left, and how they go. */
function sayRemains(remains: Purge['remains'], { name }: Pick<Store, 'name'>, io: Io): void {
  if (remains.includes('vacuum'))
    say(
      io,
      'PostgreSQL keeps deleted rows until it is told to write the tables again: VACUUM FULL records, claims, journals; then in its ' +
        'write-ahead log, replicas and backups for as long as you keep these',
    );
  if (remains.includes('in_use'))
    say(
      io,
      `another process uses ${name}: end it and run the same command again, so that no byte is left in the file`,
    );
}

/**
 * The numbers of some lines, each checked, with its line. Never says what a line has: it may be
 * another personal value.
 */
function numbersOf(text: string) {
  const typed = text
    .split(/\r\n|[\r\n]/)
    .map((number, i) => ({ line: i + 1, number: number.replace(/^\uFEFF/, '').trim() }))
    .filter(({ number }) => number !== '');
  const hints = ['a number is not an option, so that it stays out of the shell history'];
  if (typed.length === 0)
    throw new UsageError(
      'calls store erase needs the number of the caller on stdin, or several, one a line',
      hints,
    );

  const wrong = typed.filter(({ number }) => !isPhoneNumber(number)).map(({ line }) => line);
  if (wrong.length === 0) return typed;
  const shown = wrong.slice(0, 10).join(', ');
  const more = wrong.length > 10 ? ' and more' : '';
  const lines =
    wrong.length === 1 ? `line ${shown} of stdin is` : `lines ${shown}${more} of stdin are`;
  throw new UsageError(`${lines} not a phone number and nothing else; nothing was erased`, [
    'write one number a line, such as +1 312 555 0199',
  ]);
}

/**
 * Opens the ledgers of `--ledger` before anything is erased: one that is in use or damaged is found
 * out in time.
 */
async function openLedgers(files: readonly string[], io: Io) {
  const opened: {
    readonly shown: string;
    readonly ledger: Awaited<ReturnType<typeof openToForget>>;
  }[] = [];

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
      throw new CliError(
        `--ledger ${shown}: ${error.message.replace(/\.$/, '')}; nothing was erased`,
        {
          cause: error,
        },
      );
    }
  }

  return {
    async forget(sids: ReadonlySet<string>): Promise<void> {
      for (const { shown, ledger } of opened)
        if (await ledger.forget(sids))
          say(io, `${shown}: what it said about these calls is removed`);
    },
    close,
  };
}
