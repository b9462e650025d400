import type { CommandSpec } from '../args/command.ts';
import { connectionOptions, filterOptions, outputOptions, toOption } from '../args/options.ts';

/** The commands that look at calls and change nothing. */
export const readingCommands: readonly CommandSpec[] = [
  {
    name: 'list',
    summary: 'show calls as a table, or as JSON, NDJSON or CSV',
    about:
      'Shows the first calls that match, in the order of the server. On a terminal the table is cut to its width;\n' +
      'piped, nothing is cut. --ndjson and --csv stream, so --all works for any number of calls.',
    options: [
      { name: 'limit', short: 'n', value: 'N', text: 'show at most so many calls; 20 unless set' },
      { name: 'all', text: 'show all calls that match' },
      { name: 'page', value: 'N', text: 'skip so many pages of --limit calls; 0 is the first' },
      {
        name: 'columns',
        value: 'FIELDS',
        text: 'fields to show, with commas between; calls fields lists them',
        repeat: true,
        completes: 'fields',
      },
      ...filterOptions,
      toOption,
      ...outputOptions,
      ...connectionOptions,
    ],
    examples: [
      {
        line: 'calls list --from 7d --min-talk 2 --time-zone America/New_York',
        text: 'last week, calls of two minutes or more',
      },
      { line: 'calls list --on 2026-11 --all --csv > november.csv', text: 'a whole month into a file' },
      {
        line: "calls list --q 'talk_minutes:[5 TO *]' --columns sid,date_added,ppc_campaign",
        text: 'own filter, own columns',
      },
    ],
    load: async () => (await import('../commands/list.ts')).list,
  },
  {
    name: 'get',
    summary: 'show one call by its session id',
    positionals: [{ name: 'sid', text: 'session id of the call', required: true }],
    options: [
      {
        name: 'fields',
        value: 'FIELDS',
        text: 'only these fields, with commas between',
        repeat: true,
        completes: 'fields',
      },
      ...outputOptions,
      ...connectionOptions,
    ],
    examples: [
      { line: 'calls get 1000000001', text: 'every field that has a value, by group' },
      { line: 'calls get 1000000001 --json', text: 'the record as the API sends it' },
    ],
    load: async () => (await import('../commands/get.ts')).get,
  },
  {
    name: 'count',
    summary: 'count the calls that match',
    options: [
      { name: 'json', text: 'the count and where it comes from, as JSON', group: 'Output' },
      ...filterOptions,
      toOption,
      ...connectionOptions,
    ],
    examples: [
      { line: 'calls count --on yesterday --time-zone Europe/Berlin', text: 'one number on stdout' },
    ],
    load: async () => (await import('../commands/count.ts')).count,
  },
  {
    name: 'sms',
    summary: 'show the SMS-enabled numbers of the account',
    options: [...outputOptions, ...connectionOptions],
    examples: [{ line: 'calls sms --csv', text: 'number, flag and listener address' }],
    load: async () => (await import('../commands/sms.ts')).sms,
  },
  {
    name: 'fields',
    summary: 'explain the fields of a call record',
    about: 'Needs no server and no keys.',
    positionals: [{ name: 'name', text: 'a field, or part of its name or meaning' }],
    options: outputOptions,
    examples: [
      { line: 'calls fields', text: 'all fields, by group' },
      { line: 'calls fields gclid', text: 'only fields whose name or meaning has the word' },
    ],
    load: async () => (await import('../commands/fields.ts')).fields,
  },
  {
    name: 'check',
    summary: 'try the configuration and say, item by item, what works',
    options: [{ name: 'json', text: 'the findings as JSON', group: 'Output' }, ...connectionOptions],
    examples: [{ line: 'calls check', text: 'file, keys, address, version, a first call, a count, SMS' }],
    load: async () => (await import('../commands/check.ts')).check,
  },
];
