import { serviceDefaults } from '@call-attribution/service/defaults';
import type { CommandSpec, OptionSpec } from '../args/command.ts';
import { badRecordOptions, connectionOptions } from '../args/options.ts';
import { productionOptions } from './serving-production.ts';

const serving = 'Service';
const shown = ['tls-cert', 'tls-key', 'admin-port', 'proxies', 'log'];
const serviceOptions: readonly OptionSpec[] = [
  {
    name: 'port',
    value: 'N',
    text: 'port to listen on; 0 for any free port',
    default: serviceDefaults.port,
    group: serving,
  },
  {
    name: 'host',
    value: 'NAME',
    text: 'address to listen on',
    default: serviceDefaults.host,
    group: serving,
  },
  ...productionOptions
    .filter(({ name }) => shown.includes(name))
    .map((option) => ({ ...option, group: serving })),
];

/** The commands that bring conversions to bid tools by themselves. */
export const feedingCommands: readonly CommandSpec[] = [
  {
    name: 'pipeline',
    summary: 'keep a store up to date and serve feeds for bid tools from it, without hands',
    about:
      'calls sync --every and calls serve --feeds in one process. /healthz says that it runs, /readyz that its calls are\n' +
      'fresh, /metrics when a sync last succeeded, how far it lags, rows and errors, and /feeds shows people how the feeds\n' +
      'are doing. Limits of the service are set as for calls serve, by CALLS_SERVICE_... variables.',
    options: [
      {
        name: 'feeds',
        value: 'FILE',
        text: 'JSON file with the upload sheets and their addresses',
        completes: 'file',
      },
      {
        name: 'store',
        value: 'URL',
        text: 'sqlite:calls.db, duckdb:calls.duckdb or postgres://user@host/name (password in PGPASSWORD)',
        default: 'CALLS_STORE',
      },
      { name: 'every', value: 'TIME', text: 'time between two syncs: 90s, 10m, 1h', default: '15m' },
      { name: 'account', value: 'ID', text: 'account ID in the store', default: 'that of the feeds' },
      {
        name: 'lookback',
        value: 'TIME',
        text: 'read calls again that are younger than this: 24h, 7d',
      },
      ...serviceOptions,
      ...badRecordOptions,
      ...connectionOptions,
    ],
    examples: [
      {
        line: 'calls pipeline --store sqlite:calls.db --feeds feeds.json --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
        text: 'Google Ads fetches https://your.host:8675/feeds/clicks.csv each day',
      },
    ],
    load: async () => (await import('../commands/pipeline.ts')).pipeline,
  },
];
