import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import type { CommandSpec } from '../args/command.ts';
import {
  accountOptions,
  badRecordOption,
  configOption,
  inGroup,
  listeningOptions,
  sandboxEndOption,
} from '../args/options.ts';

const sandbox = 'Sandbox';

const storeUrl = 'sqlite:calls.db or postgres://user@host/name (password in PGPASSWORD)';

/** The commands that serve the API. */
export const servingCommands: readonly CommandSpec[] = [
  {
    name: 'serve',
    summary: 'serve the API on this machine, over generated calls or your own store',
    about:
      'Without a store, which --store, CALLS_STORE or calls.config.json names, it serves generated calls with test keys. With one it serves ' +
      'your own calls, as calls sync wrote them. With --every it also syncs: /readyz says whether the calls are fresh, /metrics ' +
      'when a sync last succeeded, how far it lags, rows and errors. The connection to the API is then set as for calls sync, ' +
      'in the environment or in calls.config.json. Limits, the log and the form of responses are set in the section "service" of ' +
      'calls.config.json. CALLS_PAGE_PASSWORD lets people see the web page with one password instead of keys. After Ctrl-C, responses in progress are finished; a second Ctrl-C ends it at once.',
    options: [
      {
        name: 'store',
        value: 'URL',
        text: `serve this store: ${storeUrl}; a warehouse (duckdb:) has the page and feeds; none serves generated calls`,
        default: 'CALLS_STORE, else generated calls',
      },
      ...listeningOptions,
      {
        name: 'feeds',
        value: 'FILE',
        text: 'JSON file with upload sheets to serve at fixed addresses, for bid tools that fetch them',
        completes: 'file',
      },
      {
        name: 'every',
        value: 'DURATION',
        text: 'keep the store up to date with a sync at this interval: 90s, 10m, 1h',
      },
      ...inGroup('With --every', [
        { name: 'lookback', value: 'DURATION', text: 'read calls again that are younger than this: 24h, 7d' },
        ...accountOptions,
        badRecordOption,
      ]),
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
        name: 'accounts',
        value: 'N',
        text: 'how many accounts share the calls; with several, a block to paste makes a calls.config.json of them',
        default: sandboxDefaults.accounts,
        group: sandbox,
      },
      { ...sandboxEndOption, group: sandbox },
      { name: 'live', text: 'new calls arrive and earlier ones change while it runs', group: sandbox },
      { name: 'sandbox', text: 'with --store: keep the generated calls in that store', group: sandbox },
      configOption,
    ],
    examples: [
      { line: 'calls serve', text: 'a sandbox, with the lines to paste for its keys' },
      { line: 'calls serve --store sqlite:calls.db', text: 'your own calls, as written by calls sync' },
      {
        line: 'calls serve --store sqlite:calls.db --every 15m --feeds feeds.json --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
        text: 'upload sheets that Google Ads and other tools fetch by themselves, always up to date',
      },
      {
        line: 'calls serve --records 60000 --seed 4711 --accounts 2 --port 0 --ready-json',
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
];
