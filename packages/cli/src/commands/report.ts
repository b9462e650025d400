import { day, instantOf, periodOfText } from '@call-attribution/core/time';
import type { Answer, Plan } from '@call-attribution/questions';
import { measureForms } from '@call-attribution/questions/measures';
import { command } from '../command.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { type Io, say, write } from '../io.ts';
import {
  accounts,
  connection,
  exclusion,
  only,
  outcomeFiles,
  output,
  whichCalls,
  without,
} from '../options.ts';
import { plural } from '../terminal/numbers.ts';
import type { ReportAnswers } from './runs/report-answers.ts';

/** `calls report`: a question about calls, answered in the terminal, as data, or as a page. */
export const report = command({
  name: 'report',
  summary: 'measure calls by campaign, day and so on, as a table and charts',
  about:
    'Groups are day, week, month, hour, weekday, caller_type, caller_first_campaign or any field, by the name of the API or as people say it: campaign, ' +
    `keyword, landing page, device. Measures are ${measureForms.join(', ')}. ` +
    'In a table and a page, time goes across where it is one of two groups; on a page, another second group stands within the first. Several accounts are one ' +
    'question, whose order and limit hold for all of them.',
  words: { '[report]': 'a report of calls.config.json; what is typed beside it replaces its own' },
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
    '--fail-if <condition>':
      'a condition on measures: only groups that meet it are shown, and then the exit status is 9',
    '--expect <values>':
      "values of the group that have a row even without a call, with 0, separated by commas: Brand,'Houston, TX'",
    '--spend <files>':
      'what was spent, by campaign, ad group or keyword: a file of Google Ads, Microsoft Advertising or another (CSV, .xlsx, ZIP), or its name under "spend" of calls.config.json; adds spend and cost_per_call, and cost_per(condition) may be measured',
    '--spend-columns <columns>':
      'headings of that file which are not in English: campaign=Kampagne,cost=Kosten,day=Tag; dates=dmy says the order of its dates',
    ...outcomeFiles,
    '--dry-run': 'with --outcomes: list each of them with its call, or why it has none',
    '--title <text>': 'title of the page',
    '--list': 'list the reports of calls.config.json',
    '--json-definition':
      'print what was typed as a report to paste into calls.config.json, with the name that is typed first',
    ...without(whichCalls, '--on-bad-record <stop|skip>'),
    ...exclusion,
    ...accounts,
    ...only(output, '--json', '-o, --output <file>'),
    '--format <table|ndjson|csv|xlsx|html>':
      'another format (default: table, or what the extension of --output says)',
    ...connection,
  },
  examples: {
    'calls report --by campaign,day --from 30d --time-zone America/New_York':
      'campaigns, each with its days as a line of bars',
    'calls report --by campaign --measures calls,missed_rate,callers --period 2026-10 --compare previous --order "missed_rate desc"':
      'who misses most, and how that has changed',
    'calls report --by campaign --period "last week" --fail-if "missed_rate > 0.2 OR calls < 10"':
      'for cron: campaigns to look at, and status 9 when there are any',
    'calls report --by keyword --period "last month" --outcomes sales.csv':
      'how many sales each keyword has brought, and their value',
    'calls report weekly': 'the report "weekly" of calls.config.json',
    'calls report --by campaign --period "last month" --spend google.csv':
      'what calls cost, and where money brought none',
    'calls report --by channel -o report.html': 'a page to pass on',
    'calls report --by campaign,month --store sqlite:calls.db':
      'the same from a copy, without asking the API',
  },
  async run(typed, io) {
    const { definitionOf, readReports, reportList, withReport } = await import(
      './typed/named-report.ts'
    );
    if (typed.flag('list')) {
      const reports = readReports(typed, io);
      const shown = typed.flag('json')
        ? JSON.stringify(Array.from(reports.all, ([name, report]) => ({ name, ...report })))
        : reportList(reports).join('\n');
      await write(io.stdout, `${shown}\n`);
      return exitCodes.ok;
    }

    const args = withReport(typed, io);
    if (args.flag('json-definition')) {
      await write(io.stdout, `${definitionOf(args)}\n`);
      return exitCodes.ok;
    }

    const { rowFormats, saveResult, screenOf, showResult, targetOf, writeRows } = await import(
      './typed/output.ts'
    );
    const target = targetOf(args, [...rowFormats, 'xlsx', 'html']);
    const { format } = target;
    const isPage = format === 'html';
    const isForPeople = isPage || format === 'table';
    if (isPage && target.output === null)
      throw new UsageError('a page needs a file: --output report.html');
    const { annotationsFor, placeOf } = await import('./runs/report-answers.ts');
    const { questionOf } = await import('./runs/report-question.ts');
    const { layoutOf } = await import('../report/question.ts');
    const place = await placeOf(args, io);
    const asked = await questionOf(args, place.accounts, io);
    const { question } = asked;
    const personal = asked.plan.groups.find((group) => group.personal);
    if (isPage && personal !== undefined)
      throw new UsageError(
        `the groups of ${personal.name} are personal data, and a page is made to be passed on`,
        ['group by another field, or write a table'],
      );

    const layout = layoutOf(asked, isForPeople, isPage);
    const found = await place.ask(layout.plans);
    const { answers, incomplete, ends, isProved } = found;
    const [main] = answers;
    if (main === undefined) return found.status;
    const isPart = main.notes.some(({ code }) => code === 'part_compared');
    if (main.compared !== null && !isPart) {
      const { from, to } = main.compared;
      const { periodText } = await import('./typed/filter.ts');
      const { timeZone } = main.period;
      const period = periodOfText({ from, to });
      say(io, `compared with ${await periodText(period, { now: io.clock.now(), timeZone })}`);
    }

    const status = args.flag('fail-if') ? statusOf(main, asked.plan, found, io) : found.status;
    const { countedText } = await import('../input/filter.ts');
    const { readUntil, reportOf, shownBelow } = await import('../report/view.ts');
    const below = isForPeople ? shownBelow : new Set<string>();
    for (const line of remarks(answers, await countedText(main.extensions), below)) say(io, line);
    if (args.flag('dry-run')) {
      if (isPage)
        throw new UsageError('--dry-run lists outcomes as a table, CSV or JSON, not as a page');
      const columns = [...(place.accounts.length > 1 ? ['account'] : []), ...outcomeColumns];
      await writeRows(
        main.outcomes.map((each) => ({ ...each })),
        columns,
        { ...target, format },
        io,
      );
      return found.status;
    }

    if (!isForPeople) {
      const columns = main.columns.map(({ name, unit }) => ({
        key: name,
        title: name,
        ...(unit === 'time' ? { type: 'timestamp' as const } : {}),
      }));
      await writeRows(main.rows, columns, { ...target, format }, io);
      return status;
    }

    const until = readUntil(main, io.clock.now());
    const annotations = annotationsFor(main, place.accounts);
    const report = reportOf(layout, main, answers, { until, annotations });
    if (!isPage) {
      const { reportLines } = await import('../report/terminal.ts');
      // A reader of the file has not seen what was said when it was written.
      const head = target.output === null || incomplete.length === 0 ? [] : [...incomplete, ''];
      await showResult(target, [...head, ...reportLines(report, screenOf(target, io))], io);
      return status;
    }

    const { headOf, reportPage } = await import('../report/page.ts');
    const { extensionsSentence } = await import('@call-attribution/questions');
    const compared = main.compared === null ? '' : ', and all of the period compared with';
    const page = reportPage(report, {
      title: args.text('title') ?? report.title,
      head: headOf(question, main, io.clock.now(), until),
      incomplete,
      // A shared page must not mention options.
      facts: remarks(answers, extensionsSentence(main.extensions, true), shownBelow).map(
        sentenceOf,
      ),
      counted: isProved
        ? [`Complete: ${plural(main.calls, 'call')}${compared}.`]
        : ends.map(sentenceOf),
    });
    await saveResult(target, [page], io);
    return status;
  },
});

/** What --dry-run lists of each outcome: nothing that says who the caller is. */
const outcomeColumns = ['place', 'time', 'value', 'currency', 'sid', 'date_added', 'why'] as const;

/**
 * How a report with --fail-if ends: with 9 where groups meet the condition. Calls that are missing
 * come first: nobody knows then which groups would.
 */
function statusOf(
  { rows, period: { timeZone }, asOf }: Answer,
  { period: { to }, now: planned }: Plan,
  { status, incomplete, isUnread }: ReportAnswers,
  io: Io,
): number {
  if (status !== exitCodes.ok) return status;
  const now = io.clock.now();
  const end = to === null ? null : endOf(to, timeZone);

  // A comparison cuts a period that is not over at the time at which it is asked.
  const isOver = end !== null && end <= now && to !== null && to < planned;

  // A copy is always a little behind; of a period that is not over it may be a day.
  const isOld = asOf !== null && Date.parse(asOf) < (isOver ? end : now - day);
  const reasons: string[] = [];
  if (isOld) reasons.push(isOver ? 'older than the end of the period' : 'more than a day old');

  // Of a period without an end, a copy has what it was asked for.
  if (isUnread && end !== null) reasons.push('of other times than this period');
  for (const reason of reasons)
    say(io, `the copy is ${reason}, so nobody knows which groups meet --fail-if: sync it first`);
  if (incomplete.length > 0 || reasons.length > 0) return exitCodes.incomplete;
  if (!isOver) say(io, 'the period is not over yet');
  if (rows.length > 0) return exitCodes.failedReport;
  say(io, 'no group meets --fail-if');
  return exitCodes.ok;
}

/**
 * The instant at which a period ends. Where nobody has said which time zone it is in, that of the
 * last place on earth where it ends.
 */
const endOf = (to: number, timeZone: string | null): number =>
  timeZone === null ? to + day / 2 : instantOf(to, timeZone).epochMs;

/** What a reader of the numbers should know, apart from what is said below a table. */
function remarks(
  answers: readonly Answer[],
  extensions: string,
  below: ReadonlySet<string>,
): string[] {
  const left = (answers[0]?.leftOut ?? []).filter(
    ({ code }) => code !== 'extensions' && !below.has(code),
  );
  const said = [...left, ...answers.flatMap(({ notes }) => notes)].map(({ message }) => message);
  return [...new Set([extensions, ...said])].filter((sentence) => sentence !== '');
}

const sentenceOf = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
