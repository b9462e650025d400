import type { CommandGroup, CommandSpec, OptionSpec } from '../args/command.ts';
import { configOption } from '../args/options.ts';

const storeOptions: readonly OptionSpec[] = [
  {
    name: 'store',
    value: 'URL',
    text: 'sqlite:calls.db or postgres://user@host/name (password in PGPASSWORD)',
    default: 'CALLS_STORE',
  },
  configOption,
];

const copyOptions: readonly OptionSpec[] = [
  {
    name: 'store',
    value: 'URL',
    text: 'sqlite:calls.db, duckdb:calls.duckdb or postgres://user@host/name (password in PGPASSWORD)',
    default: 'CALLS_STORE',
  },
  configOption,
];

const account: OptionSpec = {
  name: 'account',
  value: 'ID',
  text: 'ID of the account in the store',
  required: true,
};

/** `calls store` and `calls store accounts`. */
export const storeGroups: readonly CommandGroup[] = [
  {
    name: 'store',
    summary: 'manage a store: accounts and keys, sizes, delete',
    about:
      'For the store in SQLite or PostgreSQL that calls sync fills and calls serve serves; purge and erase work on a warehouse in DuckDB, ' +
      'too. Each command prints JSON lines. ' +
      'The section "service" of calls.config.json sets connections and time limits.',
    examples: [
      {
        line: 'calls store accounts key --store sqlite:calls.db --account 101',
        text: 'keys for the clients of calls serve',
      },
      {
        line: 'calls store sizes --store sqlite:calls.db',
        text: 'calls, bytes and age of each account',
      },
    ],
  },
  {
    name: 'store accounts',
    summary: 'manage the accounts of a store and their keys',
    examples: [
      {
        line: 'calls store accounts add --store sqlite:calls.db --account 101 --name Main',
        text: 'a new account',
      },
    ],
  },
];

const accountCommands: readonly CommandSpec[] = [
  {
    name: 'store accounts list',
    summary: 'accounts and the IDs of their credentials',
    options: storeOptions,
    examples: [{ line: 'calls store accounts list --store sqlite:calls.db', text: 'one JSON line for each' }],
    load: async () => (await import('../commands/store-accounts.ts')).listAccounts,
  },
  {
    name: 'store accounts add',
    summary: 'add or rename an account',
    options: [
      account,
      { name: 'name', value: 'NAME', text: 'the name to show', default: 'the ID' },
      ...storeOptions,
    ],
    examples: [
      {
        line: 'calls store accounts add --store sqlite:calls.db --account 101 --name Main',
        text: 'a new account',
      },
    ],
    load: async () => (await import('../commands/store-accounts.ts')).addAccount,
  },
  {
    name: 'store accounts key',
    summary: 'create keys and a bearer token, which are printed only once',
    options: [account, ...storeOptions],
    examples: [
      {
        line: 'calls store accounts key --store sqlite:calls.db --account 101',
        text: 'the store keeps hashes only',
      },
    ],
    load: async () => (await import('../commands/store-accounts.ts')).makeKeys,
  },
  {
    name: 'store accounts revoke',
    summary: 'revoke a credential',
    options: [
      { name: 'credential', value: 'ID', text: 'an ID from calls store accounts list', required: true },
      ...storeOptions,
    ],
    examples: [
      {
        line: 'calls store accounts revoke --store sqlite:calls.db --credential 0123456789ab',
        text: 'its keys get status 401 from now on',
      },
    ],
    load: async () => (await import('../commands/store-accounts.ts')).revokeKey,
  },
  {
    name: 'store accounts disable',
    summary: 'refuse all keys of an account with status 403',
    options: [account, ...storeOptions],
    examples: [
      {
        line: 'calls store accounts disable --store sqlite:calls.db --account 101',
        text: 'until it is enabled',
      },
    ],
    load: async () => (await import('../commands/store-accounts.ts')).disableAccount,
  },
  {
    name: 'store accounts enable',
    summary: 'undo calls store accounts disable',
    options: [account, ...storeOptions],
    examples: [
      {
        line: 'calls store accounts enable --store sqlite:calls.db --account 101',
        text: 'its keys work again',
      },
    ],
    load: async () => (await import('../commands/store-accounts.ts')).enableAccount,
  },
];

/** The commands that manage a store. */
export const storeCommands: readonly CommandSpec[] = [
  ...accountCommands,
  {
    name: 'store purge',
    summary: 'delete older calls, now and in later syncs',
    about:
      'Later syncs leave out what is older, also with --restart or a longer --lookback. To get such calls again, fill a new store.',
    options: [
      account,
      {
        name: 'before',
        value: 'TIME',
        text: 'calls added before 2024-01-01, or before "2024-01-01 08:30:00"',
        required: true,
      },
      ...copyOptions,
    ],
    examples: [
      {
        line: 'calls store purge --store sqlite:calls.db --account 101 --before 2024-01-01',
        text: 'prints how many were deleted',
      },
    ],
    load: async () => (await import('../commands/store.ts')).purge,
  },
  {
    name: 'store erase',
    summary: 'delete the calls of callers, now and in later syncs',
    about:
      'Asks for the number of the caller, or reads numbers from stdin, one a line, so that they stay out of the shell history. Each may be ' +
      'written in any way. Later syncs leave these callers out, also in copies of the file. The files of SQLite ' +
      'and DuckDB are written again without them. What else may have them, such as files that were exported before, is named at the end.',
    options: [
      account,
      {
        name: 'ledger',
        value: 'FILE',
        text: 'a ledger of calls push, calls sheet or a feed: what it says about these calls goes, too',
        repeat: true,
        completes: 'file',
      },
      ...copyOptions,
    ],
    examples: [
      {
        line: 'calls store erase --store sqlite:calls.db --account 101',
        text: 'asks for the number, prints how many calls were deleted',
      },
      {
        line: 'calls store erase --store duckdb:calls.duckdb --account 101 --ledger uploads.ledger < numbers.txt',
        text: 'several numbers, one a line',
      },
    ],
    load: async () => (await import('../commands/store.ts')).erase,
  },
  {
    name: 'store sizes',
    summary: 'number, size and age of the calls of each account',
    options: storeOptions,
    examples: [{ line: 'calls store sizes --store sqlite:calls.db', text: 'one line of JSON' }],
    load: async () => (await import('../commands/store.ts')).sizes,
  },
];
