/** One thing that can be set: by flag, by environment, or in the configuration file. */
export interface Setting {
  readonly kind: 'text' | 'integer' | 'switch';
  readonly help: string;
  /** Shown in the help where there is one. */
  readonly standard?: string | number | boolean;
  readonly values?: readonly string[];
  readonly least?: number;
  readonly most?: number;
}

const port = { kind: 'integer', least: 0, most: 65_535 } as const;
const count = (help: string, standard: number, least = 1) =>
  ({ kind: 'integer', help, standard, least, most: 1e9 }) as const;

/** Every setting of the service, in the order of the help. */
export const settings = {
  store: { kind: 'text', help: 'sqlite:<file>, sqlite::memory: or postgres://user@host/database' },
  sandbox: {
    kind: 'switch',
    help: 'serve made-up calls with test keys (store: sqlite::memory: unless given)',
  },
  records: count('sandbox: how many calls', 2_000, 0),
  seed: count('sandbox: what all chance is drawn from', 1, 0),
  accounts: count('sandbox: how many accounts', 1),
  live: { kind: 'switch', help: 'sandbox: new calls arrive and old ones change while it runs' },
  port: { ...port, help: 'port to listen on; 0 takes a free one', standard: 8_675 },
  host: { kind: 'text', help: 'address to listen on', standard: '127.0.0.1' },
  'admin-port': { ...port, help: 'a port of its own for /healthz, /readyz and /metrics' },
  'tls-cert': { kind: 'text', help: 'file with the certificate (PEM); needs tls-key' },
  'tls-key': { kind: 'text', help: 'file with the private key (PEM)' },
  'default-rows': count('rows of a page when the request names none', 100),
  'max-rows': count('most rows of a page', 1_000),
  'rows-over': {
    kind: 'text',
    help: 'more rows than that are refused or cut',
    values: ['reject', 'clamp'],
    standard: 'reject',
  },
  'single-as': {
    kind: 'text',
    help: 'form of a single record',
    values: ['object', 'array'],
    standard: 'object',
  },
  'count-as': {
    kind: 'text',
    help: 'form of the v2 count',
    values: ['object', 'number', 'text', 'array', 'header'],
    standard: 'object',
  },
  'rate-requests': count('requests each key may make per span; 0 for no limit', 0, 0),
  'rate-seconds': count('length of that span', 60),
  'max-url-bytes': count('longest URL', 8_192),
  'max-header-bytes': count('longest head of a request', 32_768),
  'max-connections': count('connections at once', 2_000),
  'head-timeout': count('milliseconds for a request to arrive', 10_000),
  'idle-timeout': count('milliseconds without a byte before a connection is ended', 60_000),
  'drain-timeout': count('milliseconds that answers get to finish when it stops', 10_000),
  synchronous: {
    kind: 'text',
    help: 'SQLite: full survives a power failure, normal a killed process',
    values: ['normal', 'full'],
    standard: 'normal',
  },
  'pool-size': count('PostgreSQL: connections at most', 10),
  log: {
    kind: 'text',
    help: 'requests on stderr as JSON lines (off for a sandbox)',
    values: ['json', 'off'],
  },
  'ready-json': { kind: 'switch', help: 'print one JSON line on stdout once it listens' },
} as const satisfies Record<string, Setting>;

/** The name of a setting, as in its flag and in the configuration file. */
type SettingName = keyof typeof settings;

/** What was set; a name that is absent was not. */
export type Settings = { readonly [N in SettingName]?: ValueOf<(typeof settings)[N]['kind']> };

type ValueOf<K> = K extends 'integer' ? number : K extends 'switch' ? boolean : string;

/** What every variable of the service begins with in the environment. */
export const environmentPrefix = 'CALLS_SERVICE_';

/** The variable of a setting. */
export function variableOf(name: string): string {
  return environmentPrefix + name.toUpperCase().replaceAll('-', '_');
}
