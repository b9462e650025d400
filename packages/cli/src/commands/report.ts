import { type Filter, printFilter } from '@call-attribution/query-dsl';
import type { Args, Handler } from '../args/command.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say, show } from '../io.ts';
import { intoFile, saveLines } from '../output/file.ts';
import { formatOf, type OutputFormat, typedFormat, writeRows } from '../output/rows.ts';
import { chooseAccounts } from '../reading/accounts.ts';
import { contextOf } from '../reading/connect.ts';
import { eachAccount, planEach, ready } from '../reading/each-account.ts';
import { extensionsNote, filterOf, leavesExtensions, rangeOf, type TimeRange } from '../reading/filter.ts';
import { sayPeriod } from '../reading/period.ts';
import type { Source } from '../reading/source.ts';
import { verdictText, watch } from '../reading/verdict.ts';
import { isWarehouse } from '../reading/warehouse-copy.ts';
import { cellsOf } from '../report/cells.ts';
import { type Dimension, readDimensions } from '../report/dimensions.ts';
import { reportPage } from '../report/page.ts';
import { type Cell, createTally, layoutOf, type Report, reportOf } from '../report/tally.ts';
import { reportLines } from '../report/terminal.ts';
import { styleFor, widthOf } from '../term/style.ts';

/** `calls report`: calls by group, in the terminal, as data, or as a page. */
export const report: Handler = (args, io) => {
  const target = readTarget(args);
  const { output } = target;
  return output === null
    ? makeReport(target, args, io)
    : intoFile(output, io, (io) => makeReport(target, args, io));
};

async function makeReport(target: ReportTarget, args: Args, io: Io): Promise<number> {
  const by = args.list('by');
  const names = by.length > 0 ? by : ['day'];
  const accounts = await planEach(await chooseAccounts(args, io), ({ name, settings }) => {
    const context = contextOf(settings, io);
    const filter = filterOf(args, context);
    const range = rangeOf(args, context);
    sayPeriod(range, context, io);
    return {
      dimensions: readDimensions(names, name),
      filter,
      range,
      leaves: leavesExtensions(filter, settings.apiVersion.value),
    };
  });
  const isJoined = names.includes('account') || accounts.every(({ name }) => name === null);
  const plans = ready(accounts).map(({ plan }) => plan);
  if (target.page !== null) refusePage(plans, isJoined, names);
  let isNoted = !plans.some(({ leaves }) => leaves);
  const counted: Counted[] = [];
  const status = await eachAccount(accounts, args, io, async ({ name, plan, open }) => {
    const source = await open();
    if (!isNoted) say(io, extensionsNote);
    isNoted = true;
    try {
      const result = await countGroups(source, plan, io);
      counted.push({ account: name, plan, incomplete: source.incomplete ?? [], ...result });
      if (!result.complete) say(io, name === null ? result.end : `account ${name}: ${result.end}`);
      return result.complete ? exitCodes.ok : exitCodes.incomplete;
    } catch (error) {
      if (io.signal.aborted) throw new Interrupted();
      throw error;
    } finally {
      await source.close();
    }
  });
  if (counted.length > 0) await writeReport(counted, isJoined, target, args, io);
  return status;
}

/** Writes what was counted: the page, if there is one, and a table or data. */
async function writeReport(
  counted: readonly Counted[],
  isJoined: boolean,
  { format, page, output }: ReportTarget,
  args: Args,
  io: Io,
): Promise<void> {
  const limit = args.integer('limit', { min: 1 });
  const top = limit ?? 10;
  const [first] = counted;
  const cells = counted.flatMap((one) => one.cells);
  const groups = isJoined && first ? [{ ...first, account: null, cells }] : counted;
  const reports = groups.map(({ account, cells, plan }) => ({
    account,
    of: (top: number): Report => reportOf(cells, layoutOf(plan.dimensions), top),
  }));
  const [joined] = reports;
  const incomplete = [...new Set(counted.flatMap((one) => one.incomplete))];
  if (page !== null && joined) {
    const title = args.text('title') ?? 'Calls';
    const text = { title, incomplete, facts: factsOf(counted) };
    await saveLines(page, [reportPage(joined.of(top), text)], io);
    say(io, `wrote ${page}`);
  }
  if (format !== 'table') {
    const rows = reports.flatMap(({ account, of }) =>
      flat(of(limit ?? Number.POSITIVE_INFINITY)).map((row) =>
        account === null ? row : { account, ...row },
      ),
    );
    return writeRows(io.stdout, format, rows);
  }
  const style = styleFor(io.stdout, io.env);
  const lines = reports.flatMap(({ account, of }, at) => [
    ...(at > 0 ? [''] : []),
    ...(account === null ? [] : [style.bold(`account ${account}`)]),
    ...reportLines(of(top), { width: widthOf(io.stdout, io.env), style }),
  ]);
  // Whoever is passed a file has not seen what was said when it was written.
  const head = output === null || incomplete.length === 0 ? [] : [...incomplete, ''];
  await show(io, [...head, ...lines]);
}

/** What the page says below its table: which calls it counts, and how that is known. */
function factsOf(counted: readonly Counted[]): string[] {
  const [first] = counted;
  const q = first === undefined ? '' : printFilter(first.plan.filter);
  const leaves = counted.some(({ plan }) => plan.leaves);
  return [
    ...(first === undefined ? [] : [rangeText(first.plan.range)]),
    ...(q === '' ? [] : [`Filter: ${q}`]),
    ...(leaves ? ['Calls through call extensions are not included.'] : []),
    ...counted.map(({ account, end }) =>
      account === null ? `${sentence(end)}.` : `Account ${account}: ${end}.`,
    ),
  ];
}

/** What is counted for an account. */
interface Plan {
  readonly dimensions: readonly Dimension[];
  readonly filter: Filter;
  readonly range: TimeRange;
  /** Does the API leave out calls through call extensions? */
  readonly leaves: boolean;
}

/** What was counted of an account, whether these are all calls, and how that is known in one sentence. */
interface Counted {
  readonly account: string | null;
  readonly plan: Plan;
  readonly complete: boolean;
  readonly end: string;
  readonly cells: readonly Cell[];
  /** What the copy lacks, a sentence for each account. */
  readonly incomplete: readonly string[];
}

/** A warehouse counts by itself; the calls of the API are read and counted here. */
async function countGroups(
  source: Source,
  { dimensions, filter }: Plan,
  io: Io,
): Promise<Pick<Counted, 'complete' | 'end' | 'cells'>> {
  if (isWarehouse(source)) {
    const { cells, answered } = await cellsOf(source, dimensions, filter, io.signal);
    return { complete: true, end: answered, cells };
  }
  const { line, onProgress } = watch(io, 'calls');
  try {
    const tally = createTally(dimensions);
    const { stream, verdict } = source.read({ filter, onProgress, signal: io.signal });
    for await (const call of stream) tally.add(call);
    line.close();
    const end = await verdict;
    return { complete: end.proof === 'whole', end: verdictText(end), cells: tally.cells() };
  } finally {
    line.close();
  }
}

/** What a report is written as. */
interface ReportTarget {
  readonly format: OutputFormat;
  /** The file of the page; null without one. */
  readonly page: string | null;
  /** The file of the figures; null for stdout. */
  readonly output: string | null;
}

/** A page goes to the file of --output; figures next to it go to stdout. */
function readTarget(args: Args): ReportTarget {
  const output = args.text('output');
  const isPage = args.text('format') === 'html' || /\.html?$/i.test(output ?? '');
  if (!isPage) return { format: formatOf(args), page: null, output: output === '-' ? null : output };
  if (output === null || output === '-') throw new UsageError('a page needs a file: --output report.html');
  return {
    format: typedFormat(args, ['table', 'ndjson', 'csv']) ?? 'table',
    page: output,
    output: null,
  };
}

/** A page is made to be passed on, and has one table. */
function refusePage(plans: readonly Plan[], isJoined: boolean, names: readonly string[]): void {
  const personal = plans[0]?.dimensions.find((dimension) => dimension.personal);
  if (personal) {
    throw new UsageError(
      `the groups of ${personal.name} are personal data, and a page is made to be passed on`,
      { hints: ['group by another field, or write a table'] },
    );
  }
  if (isJoined) return;
  throw new UsageError('a page has one table, and the calls are of several accounts', {
    hints: [`add the account to the groups: --by account,${names[0]}`],
  });
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function rangeText({ from, to }: TimeRange): string {
  if (from === null && to === null) return 'All calls.';
  return `Calls made${from === null ? '' : ` from ${from}`}${to === null ? '' : ` before ${to}`}.`;
}

// One row for each pair of groups, as spreadsheets want it for pivot tables.
function flat(report: Report): Record<string, unknown>[] {
  const { rows, across, axis, groups } = report;
  return groups.flatMap((group): Record<string, unknown>[] => {
    const { calls, talkMinutes, share } = group;
    if (!across)
      return [{ [rows.name]: group.key, calls, talk_minutes: talkMinutes, share: Number(share.toFixed(6)) }];
    const rowOf = (key: string, calls: number) => ({
      [rows.name]: group.key,
      [across.name]: key,
      calls,
    });
    // Time has no gaps. Of other keys only those that occur together: all pairs may be many times as many as there are calls.
    return across.time
      ? axis.map((key) => rowOf(key, group.spread.get(key) ?? 0))
      : [...group.spread].map(([key, calls]) => rowOf(key, calls));
  });
}
