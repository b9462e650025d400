import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import type { CommandSpec } from '../args/command.ts';
import { configOption, listeningOptions, untilOption } from '../args/options.ts';

const sandbox = 'Sandbox';

const storeUrl = 'sqlite:calls.db or postgres://user@host/name (password in PGPASSWORD)';

/** The commands that serve the API and manage a store. */
export const servingCommands: readonly CommandSpec[] = [
  {
    name: 'serve',
    summary: 'serve the API on this machine, over made-up calls or your own store',
    about:
      'Without --store it serves made-up calls with test keys. With --store it serves your own calls, as calls sync\n' +
      'or calls store import wrote them. Limits, the log and the form of responses are set in the section "service" of\n' +
      'calls.config.json. After Ctrl-C, responses in progress are finished; a second Ctrl-C ends it at once.',
    options: [
      {
        name: 'store',
        value: 'URL',
        text: `serve this store: ${storeUrl}; a warehouse (duckdb:) has the page and feeds`,
      },
      ...listeningOptions,
      {
        name: 'feeds',
        value: 'FILE',
        text: 'JSON file with upload sheets to serve at fixed addresses, for bid tools that fetch them',
        completes: 'file',
      },
      {
        name: 'ready-json',
        text: 'print one JSON line on stdout once it listens: URLs, accounts, test keys',
      },
      {
        name: 'records',
        value: 'N',
        text: 'how many calls to make up',
        default: sandboxDefaults.records,
        group: sandbox,
      },
      {
        name: 'seed',
        value: 'N',
        text: 'a different number makes up different calls',
        default: sandboxDefaults.seed,
        group: sandbox,
      },
      {
        name: 'sandbox-accounts',
        value: 'N',
        text: 'how many accounts share the calls',
        default: sandboxDefaults.accounts,
        group: sandbox,
      },
      { ...untilOption, group: sandbox },
      { name: 'live', text: 'new calls arrive and earlier ones change while it runs', group: sandbox },
      { name: 'sandbox', text: 'with --store: keep the made-up calls in that store', group: sandbox },
      configOption,
    ],
    examples: [
      { line: 'calls serve', text: 'a sandbox, with the lines to paste for its keys' },
      { line: 'calls serve --store sqlite:calls.db', text: 'your own calls, as written by calls sync' },
      {
        line: 'calls serve --store sqlite:calls.db --feeds feeds.json --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
        text: 'upload sheets that Google Ads and other tools fetch by themselves',
      },
      {
        line: 'calls serve --records 60000 --seed 4711 --sandbox-accounts 2 --port 0 --ready-json',
        text: 'for scripts: one JSON line with URLs and keys once it listens',
      },
    ],
    load: async () => (await import('../commands/serve.ts')).serve,
  },
  {
    name: 'hash-password',
    summary: 'print the hash of the password of a feed, for its file',
    about:
      'Asks for the password, or reads the first line of stdin. The hash is the "passwordHash" of a feed.',
    options: [],
    examples: [{ line: 'calls hash-password', text: 'the password is not shown' }],
    load: async () => (await import('../commands/hash-password.ts')).hashPassword,
  },
  {
    name: 'store',
    summary: 'manage a store: accounts and keys, import, export, delete, check',
    about: [
      'Tasks:',
      '  accounts list                          accounts and the IDs of their credentials',
      '  accounts add --account ID --name NAME  add or rename an account',
      '  accounts key --account ID              create keys and a bearer token, which are printed only once',
      '  accounts revoke --credential ID        revoke a credential',
      '  accounts disable --account ID          refuse its keys with status 403; accounts enable undoes this',
      '  import FILE --account ID               add or replace calls from NDJSON; - for stdin; .gz is decompressed',
      '  export --account ID -o FILE            write calls as NDJSON; - for stdout; .gz is compressed',
      '  purge --account ID --before TIME       delete older calls',
      '  erase --account ID                     delete the calls of the caller whose number is read from stdin,',
      '                                         and leave them out of future imports and syncs; files of',
      '                                         --on-bad-record are not searched',
      '  sizes                                  number, size and age of the calls of each account',
      '  check                                  compare the stored counts with the calls; status 1 if they differ',
      '  rebuild                                count all calls again',
    ].join('\n'),
    positionals: [
      {
        name: 'task',
        text: 'what to do, see above',
        required: true,
        choices: ['accounts', 'import', 'export', 'purge', 'erase', 'sizes', 'check', 'rebuild'],
      },
      {
        name: 'what',
        text: 'accounts: list, add, key, revoke, disable or enable; import: the file',
        completes: 'file',
        offers: ['list', 'add', 'key', 'revoke', 'disable', 'enable'],
      },
    ],
    options: [
      { name: 'store', value: 'URL', text: storeUrl },
      { name: 'account', value: 'ID', text: 'account ID in the store' },
      { name: 'name', value: 'NAME', text: 'accounts add: the name to show' },
      { name: 'credential', value: 'ID', text: 'accounts revoke: an ID from accounts list' },
      {
        name: 'output',
        short: 'o',
        value: 'FILE',
        text: 'export: file to write',
        default: '-',
        completes: 'file',
      },
      {
        name: 'form',
        value: 'FORM',
        text: 'export: form of the records; neutral keeps the fields of both versions',
        choices: ['neutral', 'v2', 'v3'],
        default: 'neutral',
      },
      { name: 'before', value: 'TIME', text: 'purge: calls added before "2024-01-01 00:00:00"' },
      configOption,
    ],
    examples: [
      {
        line: 'calls store accounts key --store sqlite:calls.db --account 101',
        text: 'keys for the clients of calls serve',
      },
      {
        line: 'calls store export --store sqlite:calls.db --account 101 -o calls.ndjson.gz',
        text: 'a compressed copy',
      },
    ],
    load: async () => (await import('../commands/store.ts')).store,
  },
];
