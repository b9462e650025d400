import { command } from '../command.ts';
import { accounts, connection, listening, only, sandbox, whichCalls, without } from '../options.ts';

/** `calls serve`. */
export const serve = command({
  name: 'serve',
  summary: 'serve the API and a web page, over generated calls or your own store',
  about:
    'Without a store, which --store, CALLS_STORE or calls.config.json names, it serves generated calls with test keys. With one it serves ' +
    'your own calls, as calls sync wrote them. With --every it also syncs: /readyz says whether the calls are fresh, /metrics ' +
    'when a sync last succeeded, how far it lags, rows and errors. The connection to the API is then set as for calls sync, ' +
    'in the environment or in calls.config.json. Limits, the log and the form of responses are set in the section "service" of ' +
    'calls.config.json. CALLS_PAGE_PASSWORD, of 12 characters or more, lets people see the web page with one password instead of keys; the section "page" names viewers with passwords and accounts of their own. After Ctrl-C, responses in progress are finished; a second Ctrl-C ends it at once.',
  options: {
    '--store <url>':
      'serve this store: sqlite:calls.db or postgres://user@host/name (password in PGPASSWORD); none serves generated calls (default: CALLS_STORE, else generated calls)',
    '--feeds <file>':
      'JSON file with upload sheets to serve at fixed addresses, for bid tools that fetch them',
    '--every <duration>': 'keep the store up to date with a sync at this interval: 90s, 10m, 1h',
    '--lookback <duration>': 'with --every: read calls again that are younger than this: 24h, 7d',
    '--ready-json': 'print one JSON line on stdout once it listens: URLs, accounts, test keys',
    '--open': 'open the page in the browser',
    '--sandbox': 'with --store: keep generated calls in that store',
    '--hash-password':
      'print the hash of a password, the "passwordHash" of a feed or a viewer, and end; asks for it, or reads a line of stdin',
    ...without(listening, '--status-host <name>'),
    ...sandbox,
    ...accounts,
    ...only(whichCalls, '--on-bad-record <stop|skip>'),
    ...only(connection, '--config <file>'),
  },
  examples: {
    'calls serve': 'a sandbox, with the lines to paste for its keys',
    'calls serve --store sqlite:calls.db': 'your own calls, as written by calls sync',
    'calls serve --store sqlite:calls.db --every 15m --feeds feeds.json --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem':
      'upload sheets that Google Ads and other tools fetch by themselves, always up to date',
    'calls serve --records 60000 --seed 4711 --accounts 2 --port 0 --ready-json':
      'for scripts: one JSON line with URLs and keys once it listens',
  },
  async run(args, io) {
    return (await import('./runs/serve.ts')).serve(args, io);
  },
});
