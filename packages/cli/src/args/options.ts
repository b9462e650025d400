import type { OptionSpec } from './command.ts';

/** Options that every command has. */
export const sharedOptions: readonly OptionSpec[] = [
  { name: 'help', short: 'h', text: 'show this help', group: 'Common options' },
  {
    name: 'verbose',
    short: 'v',
    text: "report on stderr what is done, without keys and callers' data",
    group: 'Common options',
  },
  {
    name: 'debug',
    text: 'like --verbose, with the causes and stack traces of errors, redacted',
    group: 'Common options',
  },
  { name: 'no-color', text: 'no colors; the variable NO_COLOR does the same', group: 'Common options' },
];

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
    name: 'legacy-base-url',
    value: 'URL',
    text: 'URL of the SMS listing, up to /ibp_api.php',
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
  {
    name: 'config',
    value: 'FILE',
    text: 'configuration file to read instead of calls.config.json',
    completes: 'file',
    group: 'Connection',
  },
  { name: 'timeout', value: 'SECONDS', text: 'how long one request may take', group: 'Connection' },
  { name: 'no-input', text: 'never ask for keys at the terminal', group: 'Connection' },
];

/** Which calls. */
export const filterOptions: readonly OptionSpec[] = [
  {
    name: 'q',
    value: 'FILTER',
    text: "filter in the language of the API: 'date_added:[2026-11-01 00:00:00 TO *]'",
    otherNames: ['filter', 'query', 'where'],
    group: 'Which calls',
  },
  {
    name: 'from',
    value: 'TIME',
    text: 'calls at or after this time: 2026-11-20, "2026-11-20 14:30:00", yesterday, 12h, 7d, 2w, 3mo',
    otherNames: ['since', 'after', 'start'],
    group: 'Which calls',
  },
  {
    name: 'to',
    value: 'TIME',
    text: 'calls before this time; the time itself is not included',
    otherNames: ['until', 'before', 'end'],
    group: 'Which calls',
  },
  {
    name: 'on',
    value: 'DAY',
    text: 'calls of one day or month: 2026-11-20, 2026-11, today, yesterday',
    group: 'Which calls',
  },
  {
    name: 'min-talk',
    value: 'MINUTES',
    text: 'calls with at least this many talk minutes',
    group: 'Which calls',
  },
  {
    name: 'include-extensions',
    text: 'v3: calls through call extensions as well',
    group: 'Which calls',
  },
];

/** What happens to records that cannot be read or stored. */
export const badRecordOptions: readonly OptionSpec[] = [
  {
    name: 'on-bad-record',
    value: 'WHAT',
    choices: ['stop', 'skip', 'file'],
    text: 'a record that cannot be read or stored: stop, leave it out, or keep it in a file',
    default: 'stop',
    group: 'Bad records',
  },
  {
    name: 'dead-letters',
    value: 'FILE',
    text: 'that file, for calls retry-dead-letters',
    default: 'name of the output and .dead-letters.ndjson',
    completes: 'file',
    group: 'Bad records',
  },
];

/** Where calls are read instead of the API. */
export const warehouseOptions: readonly OptionSpec[] = [
  {
    name: 'store',
    value: 'URL',
    text: 'read from this warehouse instead of the API: duckdb:calls.duckdb; none reads from the API',
    default: 'CALLS_STORE, else the API',
    group: 'Warehouse',
  },
  {
    name: 'account',
    value: 'ID',
    text: 'only the calls of these accounts of the warehouse',
    repeat: true,
    group: 'Warehouse',
  },
];

/** Which fields of a call are shown or written. */
export const fieldsOption: OptionSpec = {
  name: 'fields',
  value: 'FIELDS',
  text: 'only these fields, separated by commas; calls fields lists all of them',
  repeat: true,
  completes: 'fields',
  otherNames: ['columns'],
};

/** How records are shown. */
export const outputOptions: readonly OptionSpec[] = [
  { name: 'json', text: 'one JSON value', otherNames: ['format'], group: 'Output' },
  { name: 'ndjson', text: 'one JSON value per line', group: 'Output' },
  { name: 'csv', text: 'comma-separated values with a header', group: 'Output' },
];
