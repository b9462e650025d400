import { command, type Group } from '../command.ts';
import { connection, only } from '../options.ts';

/** `calls store`. */
export const storeGroup: Group = {
  name: 'store',
  summary: 'manage a store: accounts and keys, delete calls',
  about:
    'For the store that calls sync fills and calls serve serves. Each command prints JSON lines. The section "service" of calls.config.json sets connections and time limits.',
  examples: {
    'calls store accounts key --store sqlite:calls.db --account 101':
      'keys for the clients of calls serve',
    'calls store purge --store sqlite:calls.db --account 101 --before 2024-01-01':
      'calls that are too old',
  },
};

const store = {
  '--store <url>':
    'sqlite:calls.db or postgres://user@host/name, password in PGPASSWORD (default: CALLS_STORE)',
  ...only(connection, '--config <file>'),
} as const;

const account = { '--account <id>': 'ID of the account in the store' } as const;

/** `calls store accounts`. */
export const storeAccounts = command({
  name: 'store accounts',
  summary: 'list, add and disable the accounts of a store, and create and revoke their keys',
  about:
    'list prints a JSON line for each, with the IDs of its credentials; add adds or renames one; key creates keys and a bearer token, ' +
    'which are printed only once; revoke makes a credential invalid; disable refuses all keys of an account with status 403, and enable undoes that.',
  words: { '[action]': 'what to do' },
  choices: { action: ['list', 'add', 'key', 'revoke', 'disable', 'enable'] },
  options: {
    ...account,
    '--name <name>': 'add: the name to show (default: the ID)',
    '--credential <id>': 'revoke: an ID that list shows',
    ...store,
  },
  examples: {
    'calls store accounts list --store sqlite:calls.db': 'one JSON line for each',
    'calls store accounts add --store sqlite:calls.db --account 101 --name Main': 'a new account',
    'calls store accounts key --store sqlite:calls.db --account 101': 'the store keeps hashes only',
    'calls store accounts revoke --store sqlite:calls.db --credential 0123456789ab':
      'its keys get status 401 from now on',
  },
  async run(args, io) {
    return (await import('./runs/store.ts')).storeAccounts(args, io);
  },
});

/** `calls store purge`. */
export const storePurge = command({
  name: 'store purge',
  summary: 'delete older calls, now and in later syncs',
  about:
    'Says how many calls it would delete, and asks. ' +
    'Later syncs leave out what is older, also with --restart or a longer --lookback. To get such calls again, fill a new store.',
  options: {
    ...account,
    '--before <time>': 'calls added before 2024-01-01, or before "2024-01-01 08:30:00"',
    '--yes': 'delete without a question',
    '--dry-run': 'only say how many calls would be deleted',
    ...store,
  },
  needs: ['account', 'before'],
  examples: {
    'calls store purge --store sqlite:calls.db --account 101 --before 2024-01-01':
      'prints how many were deleted',
    'calls store purge --store sqlite:calls.db --account 101 --before 2024-01-01 --yes':
      'in a script, where nobody can be asked',
  },
  async run(args, io) {
    return (await import('./runs/store.ts')).purge(args, io);
  },
});

/** `calls store erase`. */
export const storeErase = command({
  name: 'store erase',
  summary: 'delete the calls of callers, now and in later syncs',
  about:
    'Asks for the number of the caller, or reads numbers from stdin, one a line, so that they stay out of the shell history. Each may be ' +
    'written in any way. Later syncs leave these callers out, also in copies of the file. A SQLite file ' +
    'is written again without them; the session IDs of the calls stay, so that copies elsewhere can follow. What else may have them, such as files that were exported before, is named at the end.',
  options: {
    ...account,
    '--ledger <files>':
      'a ledger of calls push, calls sheet or a feed: what it says about these calls goes, too',
    ...store,
  },
  needs: ['account'],
  examples: {
    'calls store erase --store sqlite:calls.db --account 101':
      'asks for the number, prints how many calls were deleted',
    'calls store erase --store sqlite:calls.db --account 101 --ledger uploads.ledger < numbers.txt':
      'several numbers, one a line',
  },
  async run(args, io) {
    return (await import('./runs/store.ts')).erase(args, io);
  },
});
