import type { CommandSpec } from '../args/command.ts';
import {
  accountOptions,
  configOption,
  connectionOptions,
  copyOptions,
  fieldsOption,
  filterOptions,
  jsonOption,
  legacyOption,
  limitOption,
  outputOptions,
  sqlOutputOptions,
} from '../args/options.ts';

const storeOption = {
  name: 'store',
  value: 'URL',
  text: 'the store to look at: duckdb:calls.duckdb, sqlite:calls.db or postgres://user@host/name',
  default: 'CALLS_STORE',
};

/** The commands that look at calls and change nothing. */
export const readingCommands: readonly CommandSpec[] = [
  {
    name: 'list',
    summary: 'show calls as a table, JSON, NDJSON or CSV',
    printsRows: true,
    about:
      'Shows the latest calls that match, the newest first. On a terminal the table fits the window; piped, nothing is cut. ' +
      '--all shows the oldest first; in the formats ndjson and csv it is a stream and works for any number of calls.',
    options: [
      { ...limitOption, text: 'how many calls to show', default: 20 },
      { name: 'all', text: 'show all calls that match' },
      { name: 'page', value: 'N', text: 'skip N pages of --limit calls', default: 0 },
      {
        name: 'sort',
        value: 'ORDER',
        text: 'begin with the newest calls, or with the oldest',
        choices: ['newest', 'oldest'],
        default: 'newest; oldest with --all',
      },
      fieldsOption,
      ...filterOptions,
      ...copyOptions,
      ...accountOptions,
      ...outputOptions,
      ...connectionOptions,
    ],
    examples: [
      {
        line: 'calls list --from 7d --min-talk 2m --time-zone America/New_York',
        text: 'the latest calls of seven days, of two minutes or more',
      },
      { line: 'calls list --period 2026-11 --all -o november.csv', text: 'a whole month as a file' },
      {
        line: "calls list --q 'talk_minutes:[5 TO *]' --fields sid,date_added,ppc_campaign",
        text: 'your own filter and fields',
      },
    ],
    load: async () => (await import('../commands/list.ts')).list,
  },
  {
    name: 'get',
    summary: 'show one call by its session ID',
    printsRows: true,
    positionals: [{ name: 'sid', text: 'session ID of the call', required: true }],
    options: [
      fieldsOption,
      ...copyOptions.filter(({ name }) => name !== 'where'),
      ...accountOptions,
      ...outputOptions,
      ...connectionOptions,
    ],
    examples: [
      { line: 'calls get 1000000001', text: 'every field that has a value, by group' },
      { line: 'calls get 1000000001 --json', text: 'the whole record' },
    ],
    load: async () => (await import('../commands/get.ts')).get,
  },
  {
    name: 'count',
    summary: 'count the calls that match',
    options: [jsonOption, ...filterOptions, ...copyOptions, ...accountOptions, ...connectionOptions],
    examples: [
      { line: 'calls count --period yesterday --time-zone Europe/Berlin', text: 'one number on stdout' },
    ],
    load: async () => (await import('../commands/count.ts')).count,
  },
  {
    name: 'sql',
    summary: 'ask a copy in SQL',
    about:
      'One statement over the view calls, which has a column for each field; in DuckDB also derived ones such as missed, caller_type, ' +
      'day and month. It is in the words of the database, and can read the copy and nothing else: no other files, no settings, no ' +
      'changes. calls sync --store duckdb:calls.duckdb fills a copy.',
    positionals: [{ name: 'statement', text: 'the SQL, in quotes; - reads it from stdin', required: true }],
    options: [
      {
        name: 'store',
        value: 'URL',
        text: 'the copy: duckdb:calls.duckdb, sqlite:calls.db or postgres://user@host/name',
        default: 'CALLS_STORE',
      },
      { ...limitOption, text: 'how many rows to show; 100 in a table, else all' },
      {
        name: 'timeout',
        value: 'DURATION',
        text: 'how long the statement may take',
        default: 'CALLS_TIMEOUT, else 1m',
      },
      configOption,
      ...sqlOutputOptions,
    ],
    examples: [
      {
        line: "calls sql 'select ppc_campaign, count(*) from calls group by all order by 2 desc' --store duckdb:calls.duckdb",
        text: 'calls by campaign',
      },
      {
        line: "calls sql 'from calls where missed and hour >= 18' -o missed.parquet",
        text: 'missed calls as a file, from the DuckDB file that CALLS_STORE names',
      },
      {
        line: "calls sql 'select date(date_added) as day, sum(talk_minutes) from calls group by 1' --store sqlite:calls.db",
        text: 'minutes of each day, from SQLite',
      },
      { line: "calls sql 'describe calls'", text: 'the columns, in DuckDB' },
    ],
    load: async () => (await import('../commands/sql.ts')).sql,
  },
  {
    name: 'watch',
    summary: 'show each new call as it comes',
    about: 'Begins with the calls of the last hour, looks for new ones until Ctrl-C, and shows each once.',
    options: [
      { name: 'every', value: 'DURATION', text: 'how often to look: 10s, 1m', default: '30s' },
      fieldsOption,
      { ...jsonOption, text: 'a line of JSON for each call' },
      ...filterOptions.filter(({ name }) => name !== 'to' && name !== 'period'),
      ...accountOptions.filter(({ name }) => name === 'account'),
      ...connectionOptions,
    ],
    examples: [
      { line: 'calls watch', text: 'time, caller, minutes, campaign and number of each call' },
      { line: 'calls watch --min-talk 2m --json | jq .sid', text: 'for another program' },
    ],
    load: async () => (await import('../commands/watch.ts')).watchCalls,
  },
  {
    name: 'sms',
    summary: 'show the numbers of the account that can receive text messages',
    printsRows: true,
    options: [...outputOptions, ...accountOptions, legacyOption, ...connectionOptions],
    examples: [{ line: 'calls sms --format csv', text: 'number, whether SMS is enabled, and listener URL' }],
    load: async () => (await import('../commands/sms.ts')).sms,
  },
  {
    name: 'fields',
    summary: 'explain the fields of a call record',
    printsRows: true,
    about: 'Needs no server and no keys.',
    positionals: [{ name: 'name', text: 'part of the name or the meaning of a field', completes: 'fields' }],
    options: outputOptions,
    examples: [
      { line: 'calls fields', text: 'all fields, by group' },
      { line: 'calls fields gclid', text: 'fields with this word in their name or meaning' },
    ],
    load: async () => (await import('../commands/fields.ts')).fields,
  },
  {
    name: 'doctor',
    summary: 'check configuration, network, stores and disk, and say what to do',
    about:
      'Looks at versions, names of variables, proxy, accounts, the clock against that of the server, the store of CALLS_STORE, ' +
      'and free disk space. Then tries the settings: configuration file, URL, version, keys, time zone, a first call, a count, ' +
      'SMS. It changes nothing and shows no keys. The exit status is 0 when nothing is wrong.',
    options: [jsonOption, storeOption, ...accountOptions, legacyOption, ...connectionOptions],
    examples: [
      { line: 'calls doctor', text: 'each item with what was found and, where needed, what to do' },
      {
        line: 'calls doctor --all-accounts --json',
        text: 'for monitoring, with each account of calls.config.json',
      },
    ],
    load: async () => (await import('../commands/doctor.ts')).doctor,
  },
  {
    name: 'status',
    summary: 'show what is configured, and how fresh and how whole each copy is',
    about:
      'Settings, accounts, the store of CALLS_STORE and the copy of calls mcp --mirror, each account of them. Asks no server. The exit ' +
      'status is 3 when a copy is not whole.',
    options: [jsonOption, storeOption, ...connectionOptions],
    examples: [
      { line: 'calls status', text: 'one line each' },
      { line: 'calls status --store sqlite:calls.db --json', text: 'for monitoring' },
    ],
    load: async () => (await import('../commands/status.ts')).showStatus,
  },
];
