import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import { serviceDefaults } from '@call-attribution/service/defaults';
import type { CommandSpec, OptionSpec } from '../args/command.ts';

const { limits } = serviceDefaults;
const sandbox = 'Sandbox';
const responses = 'Responses';
const production = 'In production';

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
    text: 'PostgreSQL: most connections at a time',
    default: 10,
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

/** The commands that serve the API, and that look after a store. */
export const servingCommands: readonly CommandSpec[] = [
  {
    name: 'serve',
    summary: 'serve the API on this machine: a sandbox, or your own synced store',
    about:
      'Without --store it serves made-up calls with test keys. With --store it serves your own calls, as calls sync\n' +
      'or calls store import wrote them. Each option can also be set in the environment, such as\n' +
      'CALLS_SERVICE_MAX_ROWS=500, or in the file of --config. Options win over the environment, the environment\n' +
      'over the file. Ctrl-C lets responses in progress finish; a second Ctrl-C ends it at once.',
    options: [
      { name: 'store', value: 'URL', text: `serve this store: ${storeUrl}` },
      {
        name: 'port',
        value: 'N',
        text: 'port to listen on; 0 takes a free one',
        default: serviceDefaults.port,
      },
      { name: 'host', value: 'NAME', text: 'address to listen on', default: serviceDefaults.host },
      {
        name: 'ready-json',
        text: 'print one JSON line on stdout once it listens: addresses, accounts, test keys',
      },
      { name: 'dump-config', text: 'print the settings in force as JSON, without secrets, and end' },
      {
        name: 'records',
        value: 'N',
        text: 'the number of made-up calls',
        default: sandboxDefaults.records,
        group: sandbox,
      },
      {
        name: 'seed',
        value: 'N',
        text: 'another number gives other calls',
        default: sandboxDefaults.seed,
        group: sandbox,
      },
      {
        name: 'accounts',
        value: 'N',
        text: 'the number of accounts that share the calls',
        default: sandboxDefaults.accounts,
        group: sandbox,
      },
      { name: 'live', text: 'new calls arrive and earlier ones change while it runs', group: sandbox },
      { name: 'sandbox', text: 'with --store: keep the made-up calls in that store', group: sandbox },
      {
        name: 'default-rows',
        value: 'N',
        text: 'rows of a page when the request names none',
        default: serviceDefaults.defaultRows,
        group: responses,
      },
      {
        name: 'max-rows',
        value: 'N',
        text: 'most rows of a page',
        default: serviceDefaults.maxRows,
        group: responses,
      },
      {
        name: 'rows-over',
        value: 'HOW',
        text: 'whether more rows than that are refused or cut',
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
      {
        name: 'log',
        value: 'HOW',
        text: 'requests as JSON lines on stderr; json with --store, off for a sandbox',
        choices: ['json', 'off'],
        group: production,
      },
      {
        name: 'admin-port',
        value: 'N',
        text: 'another port for /healthz, /readyz and /metrics',
        group: production,
      },
      {
        name: 'tls-cert',
        value: 'FILE',
        text: 'certificate (PEM); needs --tls-key',
        completes: 'file',
        group: production,
      },
      { name: 'tls-key', value: 'FILE', text: 'private key (PEM)', completes: 'file', group: production },
      {
        name: 'rate-requests',
        value: 'N',
        text: 'requests per key in each span of time; 0 for no limit',
        default: 0,
        group: production,
      },
      { name: 'rate-seconds', value: 'N', text: 'length of that span', default: 60, group: production },
      { name: 'max-url-bytes', value: 'N', text: 'longest URL', default: limits.urlBytes, group: production },
      {
        name: 'max-header-bytes',
        value: 'N',
        text: 'longest request head',
        default: limits.headerBytes,
        group: production,
      },
      {
        name: 'max-connections',
        value: 'N',
        text: 'most connections at a time',
        default: limits.connections,
        group: production,
      },
      {
        name: 'head-timeout',
        value: 'MS',
        text: 'milliseconds for a request to arrive',
        default: limits.headMs,
        group: production,
      },
      {
        name: 'idle-timeout',
        value: 'MS',
        text: 'milliseconds without a byte after which a connection is closed',
        default: limits.idleMs,
        group: production,
      },
      {
        name: 'drain-timeout',
        value: 'MS',
        text: `milliseconds for responses in progress to finish when it stops; ${limits.drainMs} unless set, 500 for a sandbox`,
        group: production,
      },
      ...storeOptions,
    ],
    examples: [
      { line: 'calls serve', text: 'a sandbox, with the lines to paste for its keys' },
      { line: 'calls serve --store sqlite:calls.db', text: 'your own calls, as written by calls sync' },
      {
        line: 'calls serve --records 60000 --seed 4711 --accounts 2 --port 0 --ready-json',
        text: 'for scripts: one JSON line with addresses and keys once it listens',
      },
    ],
    load: async () => (await import('../commands/serve.ts')).serve,
  },
  {
    name: 'store',
    summary: 'look after a store: accounts and keys, import, export, delete, check',
    about: [
      'Tasks:',
      '  accounts list                          accounts and the ids of their credentials',
      '  accounts add --account ID --name NAME  add or rename an account',
      '  accounts key --account ID              make keys and a bearer token, printed only this once',
      '  accounts revoke --credential ID        revoke a credential',
      '  accounts disable --account ID          refuse its keys with 403; accounts enable undoes it',
      '  import FILE --account ID               add or replace calls from NDJSON; - for stdin, .gz is unpacked',
      '  export --account ID -o FILE            write calls as NDJSON; - for stdout, .gz is packed',
      '  purge --account ID --before TIME       delete older calls',
      '  erase --account ID                     delete the calls of a caller whose number is read from stdin,',
      '                                         and leave them out of later imports and syncs',
      '  sizes                                  calls, bytes and ages of each account',
      '  check                                  compare the stored counts with the calls; status 1 when they differ',
      '  rebuild                                count all calls again',
    ].join('\n'),
    positionals: [
      {
        name: 'task',
        text: 'what to do, see above',
        required: true,
        choices: ['accounts', 'import', 'export', 'purge', 'erase', 'sizes', 'check', 'rebuild'],
      },
      { name: 'what', text: 'accounts: list, add, key, revoke, disable or enable; import: the file' },
    ],
    options: [
      { name: 'store', value: 'URL', text: storeUrl },
      { name: 'account', value: 'ID', text: 'account id in the store' },
      { name: 'name', value: 'NAME', text: 'accounts add: the name to show' },
      { name: 'credential', value: 'ID', text: 'accounts revoke: an id from accounts list' },
      {
        name: 'output',
        short: 'o',
        value: 'FILE',
        text: 'export: the file to write; stdout unless set',
        completes: 'file',
      },
      {
        name: 'form',
        value: 'FORM',
        text: 'export: how records are written; neutral keeps what either version has',
        choices: ['neutral', 'v2', 'v3'],
        default: 'neutral',
      },
      { name: 'before', value: 'TIME', text: 'purge: calls added before "2024-01-01 00:00:00"' },
      ...storeOptions,
    ],
    examples: [
      {
        line: 'calls store accounts key --store sqlite:calls.db --account 101',
        text: 'keys for clients of calls serve',
      },
      {
        line: 'calls store export --store sqlite:calls.db --account 101 -o calls.ndjson.gz',
        text: 'a packed copy',
      },
    ],
    load: async () => (await import('../commands/store.ts')).store,
  },
];
