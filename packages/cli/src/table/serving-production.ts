import { serviceDefaults } from '@call-attribution/service/defaults';
import type { OptionSpec } from '../args/command.ts';

const { limits } = serviceDefaults;
const production = 'In production';

/** The part of `calls serve` that matters once others use the service: logs, TLS and limits. */
export const productionOptions: readonly OptionSpec[] = [
  {
    name: 'log',
    value: 'HOW',
    text: 'requests as JSON lines on stderr; by default json with --store, off for a sandbox',
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
    text: 'requests per key and period; 0 for no limit',
    default: 0,
    group: production,
  },
  {
    name: 'rate-seconds',
    value: 'N',
    text: 'length of the period in seconds',
    default: 60,
    group: production,
  },
  {
    name: 'max-url-bytes',
    value: 'N',
    text: 'maximum bytes of a URL',
    default: limits.urlBytes,
    group: production,
  },
  {
    name: 'max-header-bytes',
    value: 'N',
    text: 'maximum bytes of the request headers',
    default: limits.headerBytes,
    group: production,
  },
  {
    name: 'max-connections',
    value: 'N',
    text: 'maximum number of connections',
    default: limits.connections,
    group: production,
  },
  {
    name: 'max-connections-per-address',
    value: 'N',
    text: 'maximum number of connections from one address; proxies are exempt',
    default: limits.connectionsPerAddress,
    group: production,
  },
  {
    name: 'proxies',
    value: 'LIST',
    text: 'addresses of your own proxies, such as 127.0.0.1,10.0.0.0/8',
    group: production,
  },
  {
    name: 'max-handshakes',
    value: 'N',
    text: 'maximum number of TLS handshakes at a time',
    default: limits.handshakes,
    group: production,
  },
  {
    name: 'handshake-timeout',
    value: 'MS',
    text: 'milliseconds for a TLS handshake',
    default: limits.handshakeMs,
    group: production,
  },
  {
    name: 'max-pipelined',
    value: 'N',
    text: 'maximum number of requests that wait on one connection',
    default: limits.pipelined,
    group: production,
  },
  {
    name: 'max-at-work',
    value: 'N',
    text: 'maximum number of requests that read from the store at a time',
    default: limits.atWork,
    group: production,
  },
  {
    name: 'page-calls',
    value: 'N',
    text: 'maximum calls of a row store that the page keeps in memory',
    default: serviceDefaults.pageCalls,
    group: production,
  },
  {
    name: 'max-unsent-bytes',
    value: 'N',
    text: 'maximum bytes of responses in memory that wait for slow clients',
    default: limits.unsentBytes,
    group: production,
  },
  {
    name: 'head-timeout',
    value: 'MS',
    text: 'milliseconds for the headers of a request to arrive',
    default: limits.headMs,
    group: production,
  },
  {
    name: 'send-timeout',
    value: 'MS',
    text: 'milliseconds for a client to take the next 64 KiB of a response',
    default: limits.sendMs,
    group: production,
  },
  {
    name: 'idle-timeout',
    value: 'MS',
    text: 'milliseconds after which an idle connection is closed',
    default: limits.idleMs,
    group: production,
  },
  {
    name: 'drain-timeout',
    value: 'MS',
    text: `milliseconds for responses in progress to finish after Ctrl-C; ${limits.drainMs} by default, 500 for a sandbox`,
    group: production,
  },
];
