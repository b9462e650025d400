import type { CommandSpec } from '../args/command.ts';
import {
  connectionOptions,
  fieldsOption,
  filterOptions,
  outputOptions,
  warehouseOptions,
} from '../args/options.ts';

/** The commands that look at calls and change nothing. */
export const readingCommands: readonly CommandSpec[] = [
  {
    name: 'list',
    summary: 'show calls as a table, JSON, NDJSON or CSV',
    about:
      'Shows the first calls that match, in the order of the server. On a terminal the table fits the window; piped,\n' +
      'nothing is cut. --ndjson and --csv are streams, so --all works for any number of calls.',
    options: [
      {
        name: 'limit',
        short: 'n',
        value: 'N',
        text: 'how many calls to show',
        default: 20,
        otherNames: ['rows', 'max', 'last'],
      },
      { name: 'all', text: 'show all calls that match' },
      { name: 'page', value: 'N', text: 'skip N pages of --limit calls', default: 0 },
      fieldsOption,
      ...filterOptions,
      ...warehouseOptions,
      ...outputOptions,
      ...connectionOptions,
    ],
    examples: [
      {
        line: 'calls list --from 7d --min-talk 2 --time-zone America/New_York',
        text: 'the last seven days, calls of two minutes or more',
      },
      { line: 'calls list --on 2026-11 --all --csv > november.csv', text: 'a whole month as a file' },
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
    positionals: [{ name: 'sid', text: 'session ID of the call', required: true }],
    options: [fieldsOption, ...warehouseOptions, ...outputOptions, ...connectionOptions],
    examples: [
      { line: 'calls get 1000000001', text: 'every field that has a value, by group' },
      { line: 'calls get 1000000001 --json', text: 'the whole record' },
    ],
    load: async () => (await import('../commands/get.ts')).get,
  },
  {
    name: 'count',
    summary: 'count the calls that match',
    options: [
      { name: 'json', text: 'the count and its source as JSON', group: 'Output' },
      ...filterOptions,
      ...warehouseOptions,
      ...connectionOptions,
    ],
    examples: [
      { line: 'calls count --on yesterday --time-zone Europe/Berlin', text: 'one number on stdout' },
    ],
    load: async () => (await import('../commands/list.ts')).count,
  },
  {
    name: 'sql',
    summary: 'ask a warehouse in SQL',
    about:
      'One statement over the view calls, which has a column for each field and derived ones such as missed, caller_type, day\n' +
      'and month. It can read the warehouse and nothing else: no other files, no settings, no changes. calls sync --store\n' +
      'duckdb:calls.duckdb fills a warehouse.',
    positionals: [{ name: 'statement', text: 'the SQL, in quotes; - reads it from stdin', required: true }],
    options: [
      {
        name: 'store',
        value: 'URL',
        text: 'the warehouse: duckdb:calls.duckdb',
        default: 'CALLS_STORE',
      },
      { name: 'limit', short: 'n', value: 'N', text: 'how many rows to show; 100 in a table, else all' },
      { name: 'timeout', value: 'SECONDS', text: 'how long the statement may take', default: 60 },
      {
        name: 'config',
        value: 'FILE',
        text: 'configuration file to read instead of calls.config.json',
        completes: 'file',
      },
      ...outputOptions,
      { name: 'parquet', text: 'Parquet with typed columns; needs --output', group: 'Output' },
      {
        name: 'output',
        short: 'o',
        value: 'FILE',
        text: 'file to write; its extension selects the format: .csv, .json, .ndjson (and .gz) or .parquet',
        completes: 'file',
        group: 'Output',
      },
    ],
    examples: [
      {
        line: "calls sql 'select ppc_campaign, count(*) from calls group by all order by 2 desc' --store duckdb:calls.duckdb",
        text: 'calls by campaign',
      },
      {
        line: "calls sql 'from calls where missed and hour >= 18' -o missed.parquet",
        text: 'missed calls as a file, from the warehouse that CALLS_STORE names',
      },
      { line: "calls sql 'describe calls'", text: 'the columns' },
    ],
    load: async () => (await import('../commands/sql.ts')).sql,
  },
  {
    name: 'sms',
    summary: 'show the numbers of the account that can receive text messages',
    options: [...outputOptions, ...connectionOptions],
    examples: [{ line: 'calls sms --csv', text: 'number, whether SMS is enabled, and listener URL' }],
    load: async () => (await import('../commands/sms.ts')).sms,
  },
  {
    name: 'fields',
    summary: 'explain the fields of a call record',
    about: 'Needs no server and no keys.',
    positionals: [{ name: 'name', text: 'part of the name or the meaning of a field' }],
    options: outputOptions,
    examples: [
      { line: 'calls fields', text: 'all fields, by group' },
      { line: 'calls fields gclid', text: 'fields with this word in their name or meaning' },
    ],
    load: async () => (await import('../commands/fields.ts')).fields,
  },
  {
    name: 'check',
    summary: 'try the configuration and say, item by item, what works',
    options: [{ name: 'json', text: 'the results as JSON', group: 'Output' }, ...connectionOptions],
    examples: [
      { line: 'calls check', text: 'configuration file, keys, URL, version, a first call, a count, SMS' },
    ],
    load: async () => (await import('../commands/check.ts')).check,
  },
];
