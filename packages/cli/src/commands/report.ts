import type { Answer } from '@call-attribution/questions';
import { measureForms } from '@call-attribution/questions/measures';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { say } from '../io.ts';
import { accounts, connection, only, output, whichCalls, without } from '../options.ts';
import { plural } from '../terminal/numbers.ts';

/** `calls report`: a question about calls, answered in the terminal, as data, or as a page. */
export const report = command({
  name: 'report',
  summary: 'measure calls by campaign, day and so on, as a table and charts',
  about:
    'Groups are day, week, month, hour, weekday, caller_type, caller_first_campaign or any field, by the name of the API or as people say it: campaign, ' +
    `keyword, landing page, device. Measures are ${measureForms.join(', ')}. ` +
    'In a table and a page, one of two groups goes across: time, or the second. Several accounts are one ' +
    'question, whose order and limit hold for all of them.',
  options: {
    '--by <groups>': 'up to four groups, separated by commas (default: day)',
    '--measures <measures>':
      'what is measured, separated by commas: calls,missed_rate,"share(rank >= 4) as low" (default: calls,share,missed,talk_mean)',
    '--compare <comparison>':
      'another period to compare with: previous, year, "last month", 2026-09; needs a period with both ends',
    '--order <columns>':
      'columns to sort by: "missed_rate desc", "calls desc, campaign" (default: time in its order, else most of the first measure first)',
    '-n, --limit <n>':
      'how many groups to show; the total is that of all (default: 10 in a table and a page, else all)',
    '--title <text>': 'title of the page',
    ...without(whichCalls, '--min-talk <duration>', '--on-bad-record <stop|skip>'),
    ...accounts,
    ...only(output, '--json', '-o, --output <file>'),
    '--format <table|ndjson|csv|html>':
      'another format (default: table, or what the extension of --output says)',
    ...connection,
  },
  examples: [
    [
      'calls report --by campaign,day --from 30d --time-zone America/New_York',
      'campaigns, each with its days as a line of bars',
    ],
    [
      'calls report --by campaign --measures calls,missed_rate,callers --period 2026-10 --compare previous --order "missed_rate desc"',
      'who misses most, and how that has changed',
    ],
    ['calls report --by channel -o report.html', 'a page to pass on'],
    [
      'calls report --by campaign,month --store sqlite:calls.db',
      'the same from a copy, without asking the API',
    ],
  ],
  async run(args, io) {
    const { rowFormats, saveResult, screenOf, showResult, targetOf, writeRows } = await import(
      '../output/index.ts'
    );
    const { format, ...target } = targetOf(args, [...rowFormats, 'html']);
    const isPage = format === 'html' || /\.html?$/i.test(target.output ?? '');
    if (isPage && target.output === null) throw new UsageError('a page needs a file: --output report.html');
    // A page goes to the file of --output; figures next to it go to stdout.
    const figures = {
      ...target,
      format: format === 'html' ? 'table' : format,
      output: isPage ? null : target.output,
    };
    const [{ placeOf }, { layoutOf, personalGroup, questionOf }, { readUntil, reportOf, shownBelow }] =
      await Promise.all([
        import('../report/ask.ts'),
        import('../report/question.ts'),
        import('../report/view.ts'),
      ]);
    const place = await placeOf(args, io);
    const question = await questionOf(args, place.accounts, io);
    const personal = isPage ? personalGroup(question) : null;
    if (personal !== null)
      throw new UsageError(
        `the groups of ${personal} are personal data, and a page is made to be passed on`,
        {
          hints: ['group by another field, or write a table'],
        },
      );
    const isTable = figures.format === 'table';
    const layout = isPage || isTable ? layoutOf(question, true) : null;
    const data = isTable ? [] : layoutOf(question, false).questions;
    const { answers, incomplete, ends, isProved, status } = await place.ask([
      ...(layout?.questions ?? []),
      ...data,
    ]);
    const [main, last] = [answers[0], answers.at(-1)];
    if (main === undefined || last === undefined) return status;
    const now = io.clock.now();
    const report = layout && reportOf(layout, main, answers, readUntil(main, now));
    const { countedText } = await import('../input/filter.ts');
    for (const sentence of remarks(
      answers,
      countedText(main.extensions),
      report === null ? null : shownBelow,
    ))
      say(io, sentence);
    if (isPage && report !== null) {
      const { headOf, reportPage } = await import('../report/page.ts');
      const { extensionsSentence } = await import('@call-attribution/questions');
      const compared = main.compared === null ? '' : ', and all of the period compared with';
      const page = reportPage(report, {
        title: args.text('title') ?? report.title,
        head: headOf(
          { q: question.q ?? '', where: args.text('where') },
          main,
          place.accounts,
          now,
          readUntil(main, now),
        ),
        incomplete,
        // A shared page must not mention options.
        facts: remarks(answers, extensionsSentence(main.extensions, true), shownBelow).map(sentenceOf),
        counted: isProved ? [`Complete: ${plural(main.calls, 'call')}${compared}.`] : ends.map(sentenceOf),
      });
      await saveResult(target, [page], io);
    }
    if (report !== null && isTable) {
      const { reportLines } = await import('../report/terminal.ts');
      // A reader of the file has not seen what was said when it was written.
      const head = figures.output === null || incomplete.length === 0 ? [] : [...incomplete, ''];
      await showResult(figures, [...head, ...reportLines(report, screenOf(figures, io))], io);
    } else
      await writeRows(
        last.rows,
        last.columns.map(({ name }) => name),
        figures,
        io,
      );
    return status;
  },
});

/** What a reader of the numbers should know, apart from what is said below a table. */
function remarks(
  answers: readonly Answer[],
  extensions: string,
  below: ReadonlySet<string> | null,
): string[] {
  const left = (answers[0]?.leftOut ?? []).filter(
    ({ code }) => code !== 'extensions' && below?.has(code) !== true,
  );
  const said = [...left, ...answers.flatMap(({ notes }) => notes)].map(({ message }) => message);
  return [...new Set([extensions, ...said])].filter((sentence) => sentence !== '');
}

const sentenceOf = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
