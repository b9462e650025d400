import type { OptionSpec } from './command.ts';

/** Options every command understands. */
export const sharedOptions: readonly OptionSpec[] = [
  { name: 'help', short: 'h', text: 'show this help', group: 'Everywhere' },
  {
    name: 'verbose',
    short: 'v',
    text: 'say on stderr what is done, without keys or caller data',
    group: 'Everywhere',
  },
  { name: 'debug', text: 'like --verbose, and error causes and stacks, redacted', group: 'Everywhere' },
  { name: 'no-color', text: 'no colours (NO_COLOR does the same)', group: 'Everywhere' },
];

/** Where the API is and how to speak to it. */
export const connectionOptions: readonly OptionSpec[] = [
  { name: 'base-url', value: 'URL', text: 'address in front of /v2 and /v3', group: 'Connection' },
  {
    name: 'legacy-base-url',
    value: 'URL',
    text: 'address in front of /ibp_api.php, for sms',
    group: 'Connection',
  },
  {
    name: 'api-version',
    value: 'VERSION',
    choices: ['v2', 'v3'],
    text: 'API version, v3 unless set',
    group: 'Connection',
  },
  {
    name: 'time-zone',
    value: 'ZONE',
    text: 'zone the API writes its times in, such as America/New_York',
    group: 'Connection',
  },
  {
    name: 'config',
    value: 'FILE',
    text: 'configuration file instead of calls.config.json',
    completes: 'file',
    group: 'Connection',
  },
  { name: 'timeout', value: 'SECONDS', text: 'give up on one request after so long', group: 'Connection' },
  { name: 'no-input', text: 'never ask for keys at the terminal', group: 'Connection' },
];

/** Which calls. */
export const filterOptions: readonly OptionSpec[] = [
  {
    name: 'q',
    value: 'FILTER',
    text: "filter as the API writes it: 'date_added:[2026-11-01 00:00:00 TO *]'",
    group: 'Which calls',
  },
  {
    name: 'from',
    value: 'TIME',
    text: 'calls made at or after: 2026-11-20, "2026-11-20 14:30:00", yesterday, 12h, 7d, 2w, 3mo',
    group: 'Which calls',
  },
  {
    name: 'until',
    value: 'TIME',
    text: 'calls made before; that moment itself is not included',
    group: 'Which calls',
  },
  {
    name: 'on',
    value: 'DAY',
    text: 'calls of one whole day or month: 2026-11-20, 2026-11, today, yesterday',
    group: 'Which calls',
  },
  {
    name: 'min-talk',
    value: 'MINUTES',
    text: 'calls with at least so many talk minutes',
    group: 'Which calls',
  },
  { name: 'include-extensions', text: 'v3: also calls made through call extensions', group: 'Which calls' },
];

/** `--to` is the end of the range everywhere but in export, where it is the file; `--until` works in both. */
export const toOption: OptionSpec = {
  name: 'to',
  value: 'TIME',
  text: 'the same as --until',
  group: 'Which calls',
};

/** How records are shown. */
export const outputOptions: readonly OptionSpec[] = [
  { name: 'json', text: 'one JSON value', group: 'Output' },
  { name: 'ndjson', text: 'one JSON value a line', group: 'Output' },
  { name: 'csv', text: 'comma-separated, with a heading', group: 'Output' },
];
