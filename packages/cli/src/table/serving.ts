import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import { serviceDefaults } from '@call-attribution/service/defaults';
import type { CommandSpec, OptionSpec } from '../args/command.ts';
import { untilOption } from '../args/options.ts';
import { productionOptions } from './serving-production.ts';

const sandbox = 'Sandbox';
const responses = 'Responses';

const storeOptions: readonly OptionSpec[] = [
  {
    name: 'synchronous',
    value: 'HOW',
    text: 'SQLite: full survives a power failure, normal a killed process',
    choices: ['normal', 'full'],
    default: 'normal',
    group: 'Store',
  },
  {
    name: 'pool-size',
    value: 'N',
    text: 'PostgreSQL: maximum number of connections',
    default: 10,
    group: 'Store',
  },
  {
    name: 'statement-timeout',
    value: 'SECONDS',
    text: 'PostgreSQL: how long a statement may run, 0 for no limit; check and rebuild have none',
    default: 30,
    group: 'Store',
  },
  {
    name: 'config',
    value: 'FILE',
    text: 'JSON object with any of the options of calls serve',
    completes: 'file',
    group: 'Store',
  },
];

const storeUrl = 'sqlite:calls.db or postgres://user@host/name (password in PGPASSWORD)';

/** The commands that serve the API and manage a store. */
export const servingCommands: readonly CommandSpec[] = [
  {
    name: 'serve',
    summary: 'serve the API on this machine, over made-up calls or your own store',
    about:
      'Without --store it serves made-up calls with test keys. With --store it serves your own calls, as calls sync\n' +
      'or calls store import wrote them. Each option can also be set in the environment, such as\n' +
      'CALLS_SERVICE_MAX_ROWS=500, or in the file of --config. Options win over the environment, and the environment\n' +
      'over the file. After Ctrl-C, responses in progress are finished; a second Ctrl-C ends it at once.',
    options: [
      {
        name: 'store',
        value: 'URL',
        text: `serve this store: ${storeUrl}; a warehouse (duckdb:) has the page and feeds`,
      },
      {
        name: 'port',
        value: 'N',
        text: 'port to listen on; 0 for any free port',
        default: serviceDefaults.port,
      },
      { name: 'host', value: 'NAME', text: 'address to listen on', default: serviceDefaults.host },
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
        name: 'hash-password',
        text: 'print the hash of a password from stdin, for "passwordHash" in the file of feeds, and exit',
      },
      { name: 'dump-config', text: 'print all settings as JSON, without secrets, and exit' },
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
        name: 'accounts',
        value: 'N',
        text: 'how many accounts share the calls',
        default: sandboxDefaults.accounts,
        group: sandbox,
      },
      { ...untilOption, group: sandbox },
      { name: 'live', text: 'new calls arrive and earlier ones change while it runs', group: sandbox },
      { name: 'sandbox', text: 'with --store: keep the made-up calls in that store', group: sandbox },
      {
        name: 'default-rows',
        value: 'N',
        text: 'rows per page when the request does not say',
        default: serviceDefaults.defaultRows,
        group: responses,
      },
      {
        name: 'max-rows',
        value: 'N',
        text: 'maximum rows per page',
        default: serviceDefaults.maxRows,
        group: responses,
      },
      {
        name: 'rows-over',
        value: 'HOW',
        text: 'what to do with a request for more rows',
        choices: ['reject', 'clamp'],
        default: serviceDefaults.rowsOver,
        group: responses,
      },
      {
        name: 'single-as',
        value: 'SHAPE',
        text: 'shape of a single record',
        choices: ['object', 'array'],
        default: serviceDefaults.singleAs,
        group: responses,
      },
      {
        name: 'count-as',
        value: 'SHAPE',
        text: 'shape of the v2 count',
        choices: ['object', 'number', 'text', 'array', 'header'],
        default: serviceDefaults.countAs,
        group: responses,
      },
      ...productionOptions,
      ...storeOptions,
    ],
    examples: [
      { line: 'calls serve', text: 'a sandbox, with the lines to paste for its keys' },
      { line: 'calls serve --store sqlite:calls.db', text: 'your own calls, as written by calls sync' },
      {
        line: 'calls serve --store sqlite:calls.db --feeds feeds.json --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
        text: 'upload sheets that Google Ads and other tools fetch by themselves',
      },
      {
        line: 'calls serve --records 60000 --seed 4711 --accounts 2 --port 0 --ready-json',
        text: 'for scripts: one JSON line with URLs and keys once it listens',
      },
    ],
    load: async () => (await import('../commands/serve.ts')).serve,
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
      ...storeOptions,
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
