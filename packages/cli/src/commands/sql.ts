import { text } from 'node:stream/consumers';
import type { SqlRow } from '@call-attribution/store';
import { command } from '../command.ts';
import { exitCodes, Interrupted } from '../errors.ts';
import { say } from '../io.ts';
import { connection, only, output } from '../options.ts';
import { plural } from '../terminal/numbers.ts';

/** `calls sql`: one statement over a store, which it can read and not change. */
export const sql = command({
  name: 'sql',
  summary: 'ask a copy in SQL',
  about:
    'One statement over the view calls, which has a column for each field. It is in the words of the database, and can read the copy ' +
    'and nothing else: no other files, no settings, no changes. It counts calls through call extensions, which calls count does not ' +
    'unless it is asked to. calls sync --store sqlite:calls.db fills a copy.',
  words: { '<statement>': 'the SQL, in quotes; - reads it from stdin' },
  options: {
    '--store <url>':
      'the copy: sqlite:calls.db or postgres://user@host/name (default: CALLS_STORE)',
    '-n, --limit <n>': 'how many rows to show; 100 in a table, else all',
    '--timeout <duration>': 'how long the statement may take (default: CALLS_TIMEOUT, else 1m)',
    ...only(output, '--json', '-o, --output <file>'),
    '--format <table|ndjson|csv|parquet>':
      'another format (default: table, or what the extension of --output says)',
    ...only(connection, '--config <file>'),
  },
  examples: {
    "calls sql 'select ppc_campaign, count(*) from calls group by 1 order by 2 desc' --store sqlite:calls.db":
      'calls by campaign',
    "calls sql 'select * from calls where talk_minutes = 0' -o missed.parquet":
      'missed calls as a file, from the store that CALLS_STORE names',
    "calls sql 'select date(date_added) as day, sum(talk_minutes) from calls group by 1' --store sqlite:calls.db":
      'minutes of each day',
  },
  async run(args, io) {
    const { readSettings } = await import('./typed/settings.ts');
    const { needStore } = await import('../stores/open.ts');
    const { sqlFormats, targetOf, writeRows } = await import('./typed/output.ts');
    const target = targetOf(args, sqlFormats, { gzip: true });
    const most =
      args.integer('limit') ?? (target.format === 'table' ? 100 : Number.POSITIVE_INFINITY);
    const settings = readSettings(args, io);
    const chosen = needStore(args.text('store'), settings, io, 'calls sql');
    const [typed = ''] = args.words;
    const statement = typed === '-' ? await text(io.stdin) : typed;
    const { openCopy } = await import('./typed/accounts.ts');
    const { withExtensions } = await import('../input/filter.ts');
    const { sayCounted } = await import('./typed/filter.ts');
    const source = await openCopy(chosen, settings, io.signal);
    try {
      const { querySql } = await import('@call-attribution/store');
      const result = await querySql(chosen.url, statement, {
        signal: io.signal,
        timeLimit: settings.timeout?.value ?? 60_000,
        // One more tells whether there are more.
        ...(Number.isFinite(most) ? { most: most + 1 } : {}),
      });
      const columns = result.columns.map(({ name, type }) => {
        const isNumber = type === 'integer' || type.startsWith('decimal');
        return {
          key: name,
          title: name,
          type,
          align: isNumber ? ('right' as const) : ('left' as const),
        };
      });
      let count = 0;
      let isCut = false;
      const rows = async function* (): AsyncGenerator<SqlRow> {
        for await (const row of result) {
          isCut = count === most;
          if (isCut) return;
          count += 1;
          yield row;
        }
      };
      await writeRows(rows(), columns, target, io).finally(() => result.close());
      say(io, isCut ? `the first ${plural(count, 'row')}; there are more` : plural(count, 'row'));
      if (isCut) say(io, `--limit ${most * 10} shows more, --format csv gives all rows`);
      for (const line of (await source.about()).said) say(io, line);
      if (/\bcalls\b/i.test(statement)) {
        // The API gives fewer calls than the view has.
        const all = withExtensions({ clauses: [] }, settings.apiVersion.value);
        const { extensions } = await source.count(all);
        if (extensions) await sayCounted(extensions, io);
      }
      return exitCodes.ok;
    } catch (error) {
      throw io.signal.aborted ? new Interrupted() : error;
    } finally {
      await source.close();
    }
  },
});
