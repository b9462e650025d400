import type { CommandSpec } from '../args/command.ts';
import { connectionOptions, filterOptions, outputOptions, toOption } from '../args/options.ts';

/** Names of the upload sheets; their code is in upload/. */
const sheetNames = [
  'google-ads-calls',
  'google-ads-clicks',
  'microsoft-ads',
  'microsoft-bulk',
  'sa360',
  'skai',
  'marin',
] as const;

const upload = 'Upload sheet (--for)';

/** The commands that carry calls somewhere: files, upload sheets, a mirror, a report. */
export const movingCommands: readonly CommandSpec[] = [
  {
    name: 'export',
    summary: 'write all matching calls to a file, or an upload sheet for a bid tool',
    about:
      'The ending of the file decides: .ndjson, .csv, .json or .parquet, each also with .gz (not parquet). The file\n' +
      'appears under its name only when it is whole. When it is stopped, the same command with --resume goes on.\n' +
      'Ends with status 3 when the server did not hand out all it said it had.',
    options: [
      { name: 'to', value: 'FILE', text: 'file to write; - for stdout (NDJSON or CSV)', completes: 'file' },
      {
        name: 'format',
        value: 'FORMAT',
        choices: ['ndjson', 'csv', 'json', 'parquet'],
        text: 'when the ending does not say it',
      },
      {
        name: 'columns',
        value: 'FIELDS',
        text: 'only these fields (csv), with commas between',
        repeat: true,
        completes: 'fields',
      },
      { name: 'bom', text: 'begin a CSV with the mark that makes Excel read it as UTF-8' },
      { name: 'spreadsheet-safe', text: 'in a CSV, disarm texts that a spreadsheet would run as formulas' },
      { name: 'resume', text: 'go on with a stopped export of the same file' },
      {
        name: 'rows',
        value: 'N',
        text: 'calls asked for in one request; 1000 unless set, less where the server gives less',
      },
      { name: 'prefetch', value: 'PAGES', text: 'pages read ahead; 4 unless set' },
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
        text: 'conversion action, goal or type, spelled as in the tool',
        group: upload,
      },
      { name: 'value', value: 'NUMBER', text: 'value of each conversion', group: upload },
      {
        name: 'value-rules',
        value: 'FILE',
        text: 'values by minutes, campaign or label, from a JSON file',
        completes: 'file',
        group: upload,
      },
      { name: 'currency', value: 'CODE', text: 'currency of the values, such as USD', group: upload },
      {
        name: 'left-out',
        value: 'FILE',
        text: 'write each call that was left out, with its reason, to this CSV',
        completes: 'file',
        group: upload,
      },
      {
        name: 'min-age',
        value: 'HOURS',
        text: 'leave out calls younger than this, instead of what the tool asks for',
        group: upload,
      },
      {
        name: 'repeated-hour',
        value: 'WHICH',
        choices: ['leave-out', 'first', 'second'],
        text: "what to take for a time that autumn's clock change made twice; left out unless set",
        group: upload,
      },
      ...filterOptions,
      ...connectionOptions,
    ],
    examples: [
      {
        line: 'calls export --to calls.parquet --from 3mo --time-zone America/New_York',
        text: 'three months, typed columns',
      },
      { line: 'calls export --to calls.ndjson.gz --resume', text: 'go on after Ctrl-C or a crash' },
      {
        line: "calls export --for google-ads-clicks --to clicks.csv --conversion-name 'Phone lead' --value 25 --currency USD --from 7d --time-zone America/New_York",
        text: 'a sheet for Google Ads, and a count of the calls that cannot go in, by reason',
      },
    ],
    load: async () => (await import('../commands/export.ts')).exportCalls,
  },
  {
    name: 'report',
    summary: 'calls by campaign, day and so on, as a table and charts',
    about:
      'Groups by day, week, month, hour, weekday or any field; campaign, ad-group, keyword, label and source are short names.',
    options: [
      {
        name: 'by',
        value: 'GROUPS',
        text: 'one or two groups, with a comma between; day unless set',
        repeat: true,
      },
      { name: 'top', value: 'N', text: 'show so many groups and add up the rest; 10 unless set' },
      { name: 'html', value: 'FILE', text: 'write a self-contained page with charts', completes: 'file' },
      { name: 'title', value: 'TEXT', text: 'title of the page' },
      ...filterOptions,
      toOption,
      ...outputOptions,
      ...connectionOptions,
    ],
    examples: [
      {
        line: 'calls report --by campaign,day --from 30d --time-zone America/New_York',
        text: 'campaigns, each with its days as a line',
      },
      { line: 'calls report --by channel --html report.html', text: 'a page to send around' },
    ],
    load: async () => (await import('../commands/report.ts')).report,
  },
  {
    name: 'sync',
    summary: 'keep a copy of the calls in a store of your own, up to date',
    about:
      'The store is made when it is not there. calls serve --store <url> then answers from it like the API itself,\nalso for calls through call extensions, which are always taken in.',
    options: [
      {
        name: 'store',
        value: 'URL',
        text: 'sqlite:calls.db or postgres://user@host/name (password by PGPASSWORD)',
      },
      { name: 'account', value: 'ID', text: 'account id in the store; the acct_id of the calls unless set' },
      { name: 'every', value: 'TIME', text: 'go on until stopped, so often: 90s, 10m, 1h' },
      {
        name: 'lookback',
        value: 'TIME',
        text: 'read again what is younger than this: 24h, 7d',
      },
      { name: 'json', text: 'the summary as JSON', group: 'Output' },
      ...filterOptions,
      toOption,
      ...connectionOptions,
    ],
    examples: [
      { line: 'calls sync --store sqlite:calls.db', text: 'once; says how many were new, changed, the same' },
      { line: 'calls sync --store postgres://calls@db/calls --every 10m', text: 'until Ctrl-C' },
    ],
    load: async () => (await import('../commands/sync.ts')).sync,
  },
];
