import { command } from '../command.ts';
import { connection, only, output } from '../options.ts';

/** `calls sql`. */
export const sql = command({
  name: 'sql',
  summary: 'ask a copy in SQL',
  about:
    'One statement over the view calls, which has a column for each field. It is in the words of the database, and can read the copy ' +
    'and nothing else: no other files, no settings, no changes. It counts calls through call extensions, which calls count does not ' +
    'unless it is asked to. calls sync --store sqlite:calls.db fills a copy.',
  words: { '<statement>': 'the SQL, in quotes; - reads it from stdin' },
  options: {
    '--store <url>': 'the copy: sqlite:calls.db or postgres://user@host/name (default: CALLS_STORE)',
    '-n, --limit <n>': 'how many rows to show; 100 in a table, else all',
    '--timeout <duration>': 'how long the statement may take (default: CALLS_TIMEOUT, else 1m)',
    ...only(output, '--json', '-o, --output <file>'),
    '--format <table|ndjson|csv|parquet>':
      'another format (default: table, or what the extension of --output says)',
    ...only(connection, '--config <file>'),
  },
  examples: [
    [
      "calls sql 'select ppc_campaign, count(*) from calls group by 1 order by 2 desc' --store sqlite:calls.db",
      'calls by campaign',
    ],
    [
      "calls sql 'select * from calls where talk_minutes = 0' -o missed.parquet",
      'missed calls as a file, from the store that CALLS_STORE names',
    ],
    [
      "calls sql 'select date(date_added) as day, sum(talk_minutes) from calls group by 1' --store sqlite:calls.db",
      'minutes of each day',
    ],
  ],
  async run(_options, io, args) {
    return (await import('../runs/sql.ts')).sql(args, io);
  },
});
