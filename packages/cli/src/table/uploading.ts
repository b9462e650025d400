import type { OptionSpec } from '../args/command.ts';

// Written out here, so that help does not load the formats; a test compares the two.
const sheetNames = [
  'google-ads-calls',
  'google-ads-clicks',
  'microsoft-ads',
  'microsoft-bulk',
  'sa360',
  'skai',
  'marin',
] as const;

const upload = 'Upload sheets (--for)';

/** What an upload sheet for a bid tool has, and which calls count. */
export const uploadOptions: readonly OptionSpec[] = [
  {
    name: 'for',
    value: 'TOOL',
    choices: sheetNames,
    text: 'write the upload sheet of this tool',
    group: upload,
  },
  {
    name: 'conversion-name',
    value: 'NAME',
    text: 'name of the conversion action, goal or type, spelled as in the tool',
    group: upload,
  },
  { name: 'value', value: 'NUMBER', text: 'value of each conversion', group: upload },
  {
    name: 'value-rules',
    value: 'FILE',
    text: 'JSON file with values by minutes, campaign, label, hour, first or repeat caller',
    completes: 'file',
    group: upload,
  },
  {
    name: 'unanswered',
    text: 'calls nobody answered count too; --min-talk MINUTES replaces the minimum talk time of the tool',
    group: upload,
  },
  { name: 'first-call-only', text: 'only the first call of a caller counts', group: upload },
  {
    name: 'once-per-caller',
    value: 'DAYS',
    text: 'a caller counts once in this many days',
    group: upload,
  },
  {
    name: 'history',
    value: 'DAYS',
    text: 'how long before --from calls are read to know who has called before',
    default: 'the days of --once-per-caller; 90 for first calls',
    group: upload,
  },
  {
    name: 'click-window',
    value: 'DAYS',
    text: 'leave out clicks that are older than this at the upload',
    default: 'what the tool accepts',
    group: upload,
  },
  {
    name: 'ad-user-data',
    value: 'CONSENT',
    choices: ['granted', 'denied'],
    text: 'Google Ads: consent of all callers to sending their data; with --ad-personalization',
    group: upload,
  },
  {
    name: 'ad-personalization',
    value: 'CONSENT',
    choices: ['granted', 'denied'],
    text: 'Google Ads: consent of all callers to personalized ads; with --ad-user-data',
    group: upload,
  },
  {
    name: 'ledger',
    value: 'FILE',
    text: 'remembers what was written for upload, so that only what is new or has changed is written: a file, or sqlite:calls.db, postgres://user@host/name or duckdb:calls.duckdb',
    completes: 'file',
    group: upload,
  },
  { name: 'dry-run', text: 'show what the sheet would have, and write nothing', group: upload },
  { name: 'currency', value: 'CODE', text: 'currency of the values, such as USD', group: upload },
  {
    name: 'left-out',
    value: 'FILE',
    text: 'CSV file to write, with each call that is left out and the reason',
    completes: 'file',
    group: upload,
  },
  {
    name: 'min-age',
    value: 'HOURS',
    text: 'leave out calls younger than this',
    default: 'what the tool asks for',
    group: upload,
  },
  {
    name: 'repeated-hour',
    value: 'WHICH',
    choices: ['leave-out', 'first', 'second'],
    text: 'how to read a time that exists twice because the clocks were set back',
    default: 'leave-out',
    group: upload,
  },
];
