import { type Filter, print } from '@call-attribution/query-dsl';
import type { Args, Handler } from '../args/command.ts';
import { contextOf } from '../calls/connect.ts';
import { filterOf, leavesExtensions, rangeOf, sayExtensions, type TimeRange } from '../calls/filter.ts';
import { formatOf, writeRows } from '../calls/output.ts';
import { verdictText, watch } from '../calls/reading.ts';
import type { Source } from '../calls/source.ts';
import { readSettings } from '../config/settings.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { saveLines } from '../export/output.ts';
import { type Io, say, write } from '../io.ts';
import { type Dimension, readDimensions } from '../report/dimensions.ts';
import { reportPage } from '../report/page.ts';
import { createTally, layoutOf, type Report, reportOf } from '../report/tally.ts';
import { reportLines } from '../report/terminal.ts';
import { styleFor, widthOf } from '../term/style.ts';
import { cellsOf } from '../warehouse/cells.ts';
import { isWarehouse, openSource } from '../warehouse/source.ts';

/** `calls report`: calls by group, in the terminal, as data, or as a page. */
export const report: Handler = async (args, io) => {
  const format = formatOf(args);
  const names = args.list('by');
  const dimensions = readDimensions(names.length > 0 ? names : ['day']);
  const top = args.integer('top', { min: 1 }) ?? 10;
  const page = readPage(args, dimensions);
  const settings = readSettings(args, io);
  const context = contextOf(settings, io);
  const filter = filterOf(args, context);
  const source = await openSource(settings, args, io);
  const version = settings.apiVersion.value;
  sayExtensions(filter, version, io);
  try {
    const { complete, end, reportFor } = await countGroups(source, dimensions, filter, io);
    const result = reportFor(top);
    if (page !== null) {
      const q = print(filter);
      const facts = [
        rangeText(rangeOf(args, context)),
        ...(q === '' ? [] : [`Filter: ${q}`]),
        ...(leavesExtensions(filter, version) ? ['Calls through call extensions are not included.'] : []),
        `${sentence(end)}.`,
      ];
      await saveLines(page, [reportPage(result, { title: args.text('title') ?? 'Calls', facts })], io);
      say(io, `wrote ${page}`);
    }
    if (format !== 'table') await writeRows(io.stdout, format, flat(reportFor(Number.POSITIVE_INFINITY)));
    else {
      const style = styleFor(io.stdout, io.env, args.flag('no-color'));
      const lines = reportLines(result, { width: widthOf(io.stdout, io.env), style });
      await write(io.stdout, `${lines.join('\n')}\n`);
    }
    if (!complete) say(io, end);
    return complete ? exitCodes.ok : exitCodes.incomplete;
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted();
    throw error;
  } finally {
    await source.close();
  }
};

/** What was counted, whether these are all calls, and how that is known in one sentence. */
interface Counted {
  readonly complete: boolean;
  readonly end: string;
  reportFor(top: number): Report;
}

/** A warehouse counts by itself; the calls of the API are read and counted here. */
async function countGroups(
  source: Source,
  dimensions: readonly Dimension[],
  filter: Filter,
  io: Io,
): Promise<Counted> {
  if (isWarehouse(source)) {
    const { cells, answered } = await cellsOf(source, dimensions, filter, io.signal);
    return { complete: true, end: answered, reportFor: (top) => reportOf(cells, layoutOf(dimensions), top) };
  }
  const { line, onProgress } = watch(io, 'calls');
  try {
    const tally = createTally(dimensions);
    const { stream, verdict } = source.read({ filter, onProgress, signal: io.signal });
    for await (const call of stream) tally.add(call);
    line.end();
    const end = await verdict;
    return { complete: end.proof === 'whole', end: verdictText(end), reportFor: (top) => tally.report(top) };
  } finally {
    line.end();
  }
}

/** The file of the page; null without `--html`. */
function readPage(args: Args, dimensions: readonly Dimension[]): string | null {
  const output = args.text('output');
  if (!args.flag('html')) {
    if (output !== null) throw new UsageError('--output is the file of the page; add --html');
    return null;
  }
  if (output === null) throw new UsageError('--html needs a file: --output report.html');
  const personal = dimensions.find((dimension) => dimension.personal);
  if (personal) {
    throw new UsageError(
      `--html: the groups of ${personal.name} are personal data, and a page is made to be passed on`,
      {
        hints: ['group by another field, or remove --html'],
      },
    );
  }
  return output;
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
    return axis.map((key, at) => ({
      [rows.name]: group.key,
      [across.name]: key,
      calls: group.series[at] ?? 0,
    }));
  });
}
