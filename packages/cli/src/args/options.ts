import { serviceDefaults } from '@call-attribution/service/defaults';
import type { OptionSpec } from './command.ts';

/** The options under one heading of the help. */
export function inGroup(group: string, options: readonly OptionSpec[]): readonly OptionSpec[] {
  return options.map((option) => ({ ...option, group }));
}

/** Options that every command has. */
export const sharedOptions: readonly OptionSpec[] = [
  { name: 'help', short: 'h', text: 'show this help', group: 'Common options' },
  {
    name: 'debug',
    short: 'v',
    text: "report on stderr what is done, with causes and stack traces of errors; no keys, no callers' data",
    otherNames: ['verbose'],
    group: 'Common options',
  },
];

/** The configuration file. */
export const configOption: OptionSpec = {
  name: 'config',
  value: 'FILE',
  text: "configuration file to read instead of the user's own",
  completes: 'file',
};

/** Where a command serves HTTP. */
export const listeningOptions = inGroup('Listening', [
  { name: 'port', value: 'N', text: 'port to listen on; 0 for any free port', default: serviceDefaults.port },
  { name: 'host', value: 'NAME', text: 'address to listen on', default: serviceDefaults.host },
  {
    name: 'status-port',
    value: 'N',
    text: 'another port for /healthz, /readyz and /metrics; 0 for any free port',
    default: 'the port itself',
  },
  { name: 'tls-cert', value: 'FILE', text: 'certificate (PEM); needs --tls-key', completes: 'file' },
  { name: 'tls-key', value: 'FILE', text: 'private key (PEM)', completes: 'file' },
]);

/** Where the API is and how to speak to it. */
export const connectionOptions: readonly OptionSpec[] = [
  {
    name: 'base-url',
    value: 'URL',
    text: 'URL of the API, up to /v2 and /v3',
    otherNames: ['url', 'endpoint'],
    group: 'Connection',
  },
  {
    name: 'api-version',
    value: 'VERSION',
    choices: ['v2', 'v3'],
    text: 'version of the API',
    default: 'v3',
    group: 'Connection',
  },
  {
    name: 'time-zone',
    value: 'ZONE',
    text: 'time zone that the API writes its times in, such as America/New_York',
    otherNames: ['tz', 'timezone', 'zone'],
    group: 'Connection',
  },
  { ...configOption, group: 'Connection' },
];

/** Where the listing of SMS numbers is. */
export const legacyOption: OptionSpec = {
  name: 'legacy-base-url',
  value: 'URL',
  text: 'URL of the SMS listing, up to /ibp_api.php',
  group: 'Connection',
};

/** Which calls. */
export const filterOptions: readonly OptionSpec[] = [
  {
    name: 'q',
    value: 'FILTER',
    text: "filter in the language of the API: 'date_added:[2026-11-01 00:00:00 TO *]'",
    otherNames: ['filter', 'query', 'where', 'search'],
    group: 'Which calls',
  },
  {
    name: 'from',
    value: 'TIME',
    text: '2026-11-20, "2026-11-20 14:30:00" or yesterday; 28d is from the midnight 28 days ago up to now',
    otherNames: ['since', 'after', 'start', 'begin', 'last', 'past', 'recent'],
    group: 'Which calls',
  },
  {
    name: 'to',
    value: 'TIME',
    text: 'the last day, or the time just after the last call',
    otherNames: ['until', 'before', 'end'],
    group: 'Which calls',
  },
  {
    name: 'period',
    value: 'PERIOD',
    text: 'yesterday, "last 28 days" (whole days before today), "last 12 hours", "last month", 2026-11, 2026-Q3',
    otherNames: ['on', 'day', 'date', 'month', 'during'],
    group: 'Which calls',
  },
  {
    name: 'min-talk',
    value: 'DURATION',
    text: 'calls with at least this much talk: 90s, 2m',
    otherNames: ['min-minutes', 'minutes', 'talk'],
    group: 'Which calls',
  },
  {
    name: 'include-extensions',
    text: 'v3: calls through call extensions as well',
    otherNames: ['extensions', 'call-extensions', 'inc-gce'],
    group: 'Which calls',
  },
];

/** When the generated calls of a sandbox end. */
export const sandboxEndOption: OptionSpec = {
  name: 'to',
  value: 'TIME',
  text: 'the last day of the generated calls, or the time just after the last one, instead of now',
  otherNames: ['until', 'before', 'end'],
};

/** What happens to records that cannot be read or stored. */
export const badRecordOption: OptionSpec = {
  name: 'on-bad-record',
  value: 'WHAT',
  choices: ['stop', 'skip'],
  text: 'a record that cannot be read or stored: stop, or leave it out and name it',
  default: 'stop',
};

/** Where calls are read instead of the API. */
export const copyOptions: readonly OptionSpec[] = [
  {
    name: 'store',
    value: 'URL',
    text: 'read from this copy instead of the API: duckdb:calls.duckdb, sqlite:calls.db or postgres://user@host/name; none reads from the API',
    default: 'CALLS_STORE, else the API',
    otherNames: ['warehouse', 'db', 'database'],
    group: 'Copies',
  },
  {
    name: 'where',
    value: 'CONDITION',
    text: `in a copy or a report, a condition on any field: "talk_minutes >= 2 and state in ('TX', 'CA')"`,
    group: 'Copies',
  },
];

/** Whose calls are read. */
export const accountOptions: readonly OptionSpec[] = [
  {
    name: 'account',
    value: 'NAMES',
    text: 'accounts of calls.config.json, or accounts in the copy: main or main,berlin',
    repeat: true,
    otherNames: ['accounts', 'profile'],
    group: 'Accounts',
  },
  {
    name: 'all-accounts',
    text: 'all of them; each row says whose it is, and a failure of one does not stop the others',
    group: 'Accounts',
  },
];

/** Which fields of a call are shown or written. */
export const fieldsOption: OptionSpec = {
  name: 'fields',
  value: 'FIELDS',
  text: 'only these fields, separated by commas; calls fields lists all of them',
  repeat: true,
  completes: 'fields',
  otherNames: ['columns', 'field', 'select', 'cols'],
};

/** How many. */
export const limitOption: OptionSpec = {
  name: 'limit',
  short: 'n',
  value: 'N',
  text: 'how many to show',
  otherNames: ['rows', 'max', 'top', 'count'],
};

/** The file that a command writes. */
export const outputOption: OptionSpec = {
  name: 'output',
  short: 'o',
  value: 'FILE',
  text: 'file to write; its extension selects the format',
  completes: 'file',
  replaces: [],
  otherNames: ['out', 'file', 'save'],
  group: 'Output',
};

/** What `calls export` and `calls sheet` replace in the names of their files. */
export const replacedInNames: readonly string[] = ['{account}', '{date}'];

/** The result for programs. */
export const jsonOption: OptionSpec = { name: 'json', text: 'the result as one JSON value', group: 'Output' };

/** How rows are shown or written to a file: as a table, as JSON, or in one of these formats. */
const rowOptions = (...formats: readonly string[]): readonly OptionSpec[] => [
  jsonOption,
  {
    name: 'format',
    value: 'FORMAT',
    choices: ['table', ...formats],
    text: 'another format of the output',
    default: 'table, or what the extension of --output says',
    otherNames: ['as', 'output-format'],
    group: 'Output',
  },
  outputOption,
];

/** The formats of rows. */
export const outputOptions = rowOptions('ndjson', 'csv');

/** The same for `report`, which also writes a page: with charts, for a browser; it needs --output. */
export const reportOutputOptions = rowOptions('ndjson', 'csv', 'html');

/** The same for `sql`, which also writes Parquet. */
export const sqlOutputOptions = rowOptions('ndjson', 'csv', 'parquet');

/** Where a command that goes on serves its status. */
export const statusOptions: readonly OptionSpec[] = [
  {
    name: 'status-port',
    value: 'N',
    text: 'serve /healthz, /readyz and /metrics on this port; 0 for any free port',
  },
  { name: 'status-host', value: 'NAME', text: 'address for --status-port', default: '127.0.0.1' },
];

/** Where the credentials of the accounts of a job are. */
export const keysOption: OptionSpec = {
  name: 'keys',
  value: 'DIR',
  text: 'folder with the credentials of the accounts, as file:101.json in the job names them',
  default: 'CALLS_FLEET_KEYS, else the current folder',
  completes: 'folder',
};
