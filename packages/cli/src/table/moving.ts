import { measureForms } from '@call-attribution/questions/measures';
import type { CommandSpec } from '../args/command.ts';
import {
  accountOptions,
  badRecordOption,
  connectionOptions,
  copyOptions,
  fieldsOption,
  filterOptions,
  jsonOption,
  keysOption,
  limitOption,
  outputOption,
  replacedInNames,
  reportOutputOptions,
  statusOptions,
} from '../args/options.ts';

/** The commands that bring calls somewhere: files, a store, a report. */
export const movingCommands: readonly CommandSpec[] = [
  {
    name: 'export',
    summary: 'write all calls that match to a file',
    about:
      'The extension of the file selects the format: .ndjson, .csv, .json or .parquet; .gz after one of the first three ' +
      'compresses it. The file appears under its name only when it is complete. After an interruption, the same command ' +
      'with --resume continues. The exit status is 3 when the server did not return all the calls that it counted.',
    options: [
      {
        ...outputOption,
        text: 'file to write, or - for stdout; {account} and {date} in the name are replaced',
        replaces: replacedInNames,
      },
      {
        name: 'format',
        value: 'FORMAT',
        choices: ['ndjson', 'csv', 'json', 'parquet', 'spreadsheet'],
        text: 'format, when the extension does not say it; spreadsheet is CSV that Excel reads as UTF-8 and in which nothing runs as a formula',
        otherNames: ['as', 'output-format', 'excel', 'bom'],
        group: 'Output',
      },
      fieldsOption,
      {
        name: 'partition',
        value: 'BY',
        choices: ['month', 'day'],
        text: 'from a warehouse: a folder of Parquet files, one for each month or day: account=.../month=.../part-0.parquet',
      },
      {
        name: 'receipt',
        text: 'write FILE.receipt.json as well: what was read and proved, and what the file holds; calls verify compares them later. A folder of files gets one for all of them',
      },
      { name: 'resume', text: 'continue an interrupted export of the same file' },
      { name: 'rows', value: 'N', text: 'calls per request; fewer if the server sends fewer', default: 1000 },
      ...filterOptions,
      ...copyOptions,
      ...accountOptions,
      badRecordOption,
      ...connectionOptions,
    ],
    examples: [
      {
        line: 'calls export -o calls.parquet --period "last 3 months" --time-zone America/New_York',
        text: 'three months, typed columns',
      },
      {
        line: 'calls export -o calls/ --partition month --store duckdb:calls.duckdb',
        text: 'a folder of Parquet files for DuckDB, Spark, BigQuery or pandas',
      },
      { line: 'calls export -o calls.ndjson.gz --resume', text: 'continue after Ctrl-C or a crash' },
    ],
    load: async () => (await import('../commands/export.ts')).exportCalls,
  },
  {
    name: 'verify',
    summary: 'count what files and stores hold, and compare it with receipts and with the API',
    about:
      'Reads every row of a file, of all files in a folder, or of a store, and counts it; stored counts are not relied on. A file is ' +
      'compared with its receipt, which calls export --receipt writes, a store with its stored counts and with its receipt, ' +
      'if it has one. --against-api reads the calls of the API as well, and names periods with calls that are ' +
      'missing, more or changed. Callers who were erased and calls that were purged count apart. The exit status is 0 when ' +
      'everything is proved, else 3: also for what could only be counted, because it has no receipt and the API was not asked.',
    positionals: [
      {
        name: 'path',
        text: 'a file, a folder, the job file of calls fleet, or a store: sqlite:calls.db, duckdb:calls.duckdb, postgres://user@host/name',
        required: true,
        completes: 'file',
      },
    ],
    options: [
      {
        name: 'against-api',
        text: 'compare with the API, call by call; it costs as many requests as an export',
      },
      {
        name: 'write-receipt',
        text: 'of a store in a file: write FILE.receipt.json about what it holds now',
      },
      ...filterOptions.filter(({ name }) => ['from', 'to'].includes(name)),
      { ...jsonOption, text: 'the result as one JSON value, with each difference' },
      ...accountOptions.filter(({ name }) => name === 'account'),
      {
        ...keysOption,
        text: 'with --against-api and the job file of calls fleet: folder with the credentials of the accounts',
      },
      ...connectionOptions,
    ],
    examples: [
      { line: 'calls verify calls.csv', text: 'is it still what its receipt says?' },
      { line: 'calls verify exports/ --json', text: 'every file in a folder' },
      { line: 'calls verify job.json', text: 'what calls fleet has written, account by account' },
      {
        line: 'calls verify sqlite:calls.db --against-api --from 30d',
        text: 'a store and the API, call by call',
      },
    ],
    load: async () => (await import('../commands/verify.ts')).verify,
  },
  {
    name: 'report',
    summary: 'measure calls by campaign, day and so on, as a table and charts',
    about:
      'Groups are day, week, month, hour, weekday, caller_type, caller_first_campaign or any field, by the name of the API or as people say it: campaign, ' +
      `keyword, landing page, device. Measures are ${measureForms.join(', ')}. ` +
      'In a table and a page, one of two groups goes across: time, or the second. Several accounts are one ' +
      'question, whose order and limit hold for all of them.',
    options: [
      {
        name: 'by',
        value: 'GROUPS',
        text: 'up to four groups, separated by commas',
        default: 'day',
        repeat: true,
        completes: 'groups',
        otherNames: ['group-by', 'group', 'per'],
      },
      {
        name: 'measures',
        value: 'MEASURES',
        text: 'what is measured, separated by commas: calls,missed_rate,"share(rank >= 4) as low"',
        default: 'calls,share,missed,talk_mean',
        completes: 'measures',
        otherNames: ['metrics', 'measure', 'show'],
      },
      {
        name: 'compare',
        value: 'PERIOD',
        text: 'another period to compare with: previous, year, "last month", 2026-09; needs a period with both ends',
        offers: ['previous', 'year'],
        otherNames: ['versus', 'against'],
      },
      {
        name: 'order',
        value: 'COLUMNS',
        text: 'columns to sort by: "missed_rate desc", "calls desc, campaign"',
        default: 'time in its order, else most of the first measure first',
        otherNames: ['sort', 'order-by', 'sort-by'],
      },
      {
        ...limitOption,
        text: 'how many groups to show; the total is that of all',
        default: '10 in a table and a page, else all',
        otherNames: ['top', 'rows', 'max'],
      },
      { name: 'title', value: 'TEXT', text: 'title of the page' },
      ...filterOptions.filter(({ name }) => name !== 'min-talk'),
      ...copyOptions.map((option) =>
        option.name === 'where' ? { ...option, group: 'Which calls' } : option,
      ),
      ...accountOptions.map((option) =>
        option.name === 'all-accounts'
          ? { ...option, text: 'all of them together; --by account tells them apart' }
          : option,
      ),
      ...reportOutputOptions,
      ...connectionOptions,
    ],
    examples: [
      {
        line: 'calls report --by campaign,day --from 30d --time-zone America/New_York',
        text: 'campaigns, each with its days as a line of bars',
      },
      {
        line: 'calls report --by campaign --measures calls,missed_rate,callers --period 2026-10 --compare previous --order "missed_rate desc"',
        text: 'who misses most, and how that has changed',
      },
      { line: 'calls report --by channel -o report.html', text: 'a page to pass on' },
      {
        line: 'calls report --by campaign,month --store duckdb:calls.duckdb',
        text: 'the same from a warehouse, at once for any number of calls',
      },
    ],
    load: async () => (await import('../commands/report.ts')).report,
  },
  {
    name: 'sync',
    summary: 'keep a copy of the calls in your own store up to date',
    about:
      'Creates the store if it does not exist. calls report, count, list, get, export, sheet and sql then read the copy, and calls ' +
      'serve serves one in SQLite or PostgreSQL as the API does. Calls through call extensions are ' +
      'always included.',
    options: [
      {
        name: 'store',
        value: 'URL',
        text: 'duckdb:calls.duckdb, sqlite:calls.db or postgres://user@host/name (password in PGPASSWORD)',
        default: 'CALLS_STORE',
      },
      ...accountOptions,
      { name: 'every', value: 'DURATION', text: 'repeat until stopped, at this interval: 90s, 10m, 1h' },
      ...statusOptions,
      {
        name: 'lookback',
        value: 'DURATION',
        text: 'read calls again that are younger than this: 24h, 7d',
      },
      { name: 'restart', text: 'read and count all calls that match again' },
      jsonOption,
      ...filterOptions.filter(({ name }) => name !== 'include-extensions'),
      badRecordOption,
      ...connectionOptions,
    ],
    examples: [
      {
        line: 'calls sync --store sqlite:calls.db',
        text: 'once; reports how many calls are new, changed and the same',
      },
      { line: 'calls sync --store postgres://calls@db/calls --every 10m', text: 'until Ctrl-C' },
      {
        line: 'calls sync --store sqlite:calls.db --from 60d --time-zone America/New_York',
        text: 'for cron: the last 60 days, and no gap when it was not run for a while',
      },
      {
        line: 'calls sync --store duckdb:calls.duckdb --every 10m',
        text: 'a warehouse, for questions and reports',
      },
    ],
    load: async () => (await import('../commands/sync.ts')).sync,
  },
];
