import { print } from '@call-attribution/query-dsl';
import type { Handler } from '../args/command.ts';
import { contextOf, openClient } from '../calls/connect.ts';
import { filterOf, leavesExtensions, rangeOf, sayExtensions } from '../calls/filter.ts';
import { formatOf, writeRows } from '../calls/output.ts';
import { readCalls, verdictText, watch } from '../calls/reading.ts';
import { readSettings } from '../config/settings.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { saveText } from '../export/save-text.ts';
import { say, write } from '../io.ts';
import { readDimensions } from '../report/dimensions.ts';
import { reportPage } from '../report/page.ts';
import { createTally, type Report } from '../report/tally.ts';
import { reportLines } from '../report/terminal.ts';
import { styleFor, widthOf } from '../term/style.ts';

/** `calls report`: figures by group, in the terminal, as data, or as a page. */
export const report: Handler = async (args, io) => {
  const format = formatOf(args);
  const names = args.list('by');
  const dimensions = readDimensions(names.length > 0 ? names : ['day']);
  const top = args.integer('top', { min: 1 }) ?? 10;
  const html = args.text('html');
  const personal = dimensions.find((dimension) => dimension.personal);
  if (html !== null && personal) {
    throw new UsageError(
      `--html: groups by ${personal.name} would put personal data into a file made to be passed on`,
      {
        hints: ['group by something else, or leave --html out'],
      },
    );
  }
  const settings = readSettings(args, io);
  const context = contextOf(settings, io);
  const filter = filterOf(args, context);
  const client = await openClient(settings, args, io);
  sayExtensions(print(filter), settings.apiVersion.value, io);
  const { line, onProgress } = watch(io, 'calls');
  try {
    const tally = createTally(dimensions);
    const { stream, verdict } = readCalls(client, { filter, onProgress, signal: io.signal });
    for await (const call of stream) tally.add(call);
    line.end();
    const proof = await verdict;
    const result = tally.report(top);
    if (html !== null) {
      const facts = [
        rangeText(rangeOf(args, context)),
        ...(print(filter) === '' ? [] : [`Filter: ${print(filter)}`]),
        ...(leavesExtensions(print(filter), settings.apiVersion.value)
          ? ['Calls through call extensions are left out.']
          : []),
        `${sentence(verdictText(proof))}.`,
      ];
      const page = reportPage(result, { title: args.text('title') ?? 'Calls', facts });
      await saveText(html, [page], io);
      say(io, `${html}: written`);
    }
    if (format !== 'table') await writeRows(io.stdout, format, flat(tally.report(Number.POSITIVE_INFINITY)));
    else {
      const style = styleFor(io.stdout, io.env, args.flag('no-color'));
      const lines = reportLines(result, { width: widthOf(io.stdout, io.env), style });
      await write(io.stdout, `${lines.join('\n')}\n`);
    }
    if (!proof.complete) say(io, verdictText(proof));
    return proof.complete ? exitCodes.ok : exitCodes.incomplete;
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted();
    throw error;
  } finally {
    line.end();
    await client.close();
  }
};

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function rangeText({ from, until }: { from: string | null; until: string | null }): string {
  if (from === null && until === null) return 'All calls.';
  return `Calls made${from === null ? '' : ` from ${from}`}${until === null ? '' : ` until before ${until}`}.`;
}

// One row for each pair of groups, so that a spreadsheet can pivot it.
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
