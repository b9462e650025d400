import { resolve } from 'node:path';
import {
  adjustmentsPath,
  type CallChange,
  changesToSend,
  checkRetractions,
  conversions,
  createTally,
  deliverSheets,
  finishDeliveries,
  type LeftOutReason,
  reasonTexts,
  refuseExisting,
  type Summary,
  sheetFormats,
  summaryLines,
  toSheet,
  uncorrectedLines,
} from '@call-attribution/conversions';
import { csvLine, toGzip } from '@call-attribution/node-stream/encoders';
import type { Args, Handler } from '../../args.ts';
import { Interrupted, UsageError } from '../../errors.ts';
import { inPeriod, withExtensions } from '../../input/filter.ts';
import type { Io } from '../../io.ts';
import { plural } from '../../terminal/numbers.ts';
import { openNamedLedger } from '../../uploads/ledger.ts';
import { askedPeriod, type FilterContext, sayExtensions } from '../typed/filter.ts';
import { createOutcomeList } from '../typed/outcomes.ts';
import { outputOf, saveLines } from '../typed/output.ts';
import { exportEach, type Plan } from './export.ts';
import { readRules } from './rules.ts';

/** `calls sheet`: the upload sheet of a bid tool; for several accounts, each with its own. */
export const sheet: Handler = (args, io) => exportEach(planSheet, args, io);

/**
 * Reads the options of an upload sheet. What is missing or wrong is reported before any request.
 */
async function planSheet(args: Args, context: FilterContext, io: Io): Promise<Plan> {
  const format = Object.values(sheetFormats).find(({ name }) => name === args.words[0]);
  if (format === undefined)
    throw new Error(`the table has a sheet that there is not: ${args.words[0]}`);
  const shown = outputOf(args);
  refuseOtherKind(shown);
  const conversionName = args.text('conversion-name')?.trim() ?? '';
  if (format.needsName && !/^\S.{0,99}$/u.test(conversionName))
    throw new UsageError(
      `--conversion-name ${conversionName === '' ? 'is missing' : 'is no name'}: it is the name of the conversion in ${format.title.replace(/,.*/, '')}, spelled as there, at most 100 characters`,
    );

  const { rules, history } = await readRules(args, context, format, conversionName, io);
  const leftOut = args.text('left-out');
  const named = args.text('ledger');
  const isDryRun = args.flag('dry-run');
  const ofPeriod = inPeriod({ clauses: [] }, await askedPeriod(args, context));
  const path = resolve(io.cwd, shown);
  if (leftOut !== null && resolve(io.cwd, leftOut) === path)
    throw new UsageError('--output and --left-out name the same file; use two files');
  if (named !== null && shown === '-' && !isDryRun)
    throw new UsageError('--ledger needs a file in --output: it cannot know what became of stdout');

  const write: Plan['write'] = async ({ source, settings, filter, stream: options, onNote }) => {
    // Conversions are matched by caller number only for calls through extensions, which v3 leaves
    // out by default.
    const isOfOutcomes = rules.outcomes !== undefined;
    const needsExtensions = format.accepts.onlyExtensions || isOfOutcomes;
    const version = settings.apiVersion.value;
    if (!needsExtensions) await sayExtensions(filter, version, io);
    const matching = needsExtensions ? withExtensions(filter, version) : filter;
    const destination = `${format.name} ${rules.conversionName}`.trim();
    const ledger = named === null ? null : await openNamedLedger(named, rules.now, isDryRun, io);
    try {
      // Before calls are read: what an earlier run could not finish, and a file that a sheet would
      // replace.
      if (ledger && !isDryRun) {
        for (const { files } of await finishDeliveries(ledger))
          onNote(`an interrupted run was finished: ${files.map((file) => file.path).join(', ')}`);
        for (const file of [path, ...(format.adjustments ? [adjustmentsPath(path)] : [])])
          refuseExisting(file);
      }
      const { stream, result, said } = await source.read({ ...options, filter: matching });
      for (const line of [...said, ...(await source.dataEnds(ofPeriod))]) onNote(line);
      const tally = createTally();
      const listed = createOutcomeList();
      const place = isOfOutcomes ? ['outcome'] : [];
      const left = [csvLine([...place, 'sid', 'date_added', 'reason', 'what it means'])];
      const seen = (change: CallChange): void => {
        tally.add(change);
        listed.add(change);
        const { call, why, outcome } = change;
        const isListed = leftOut !== null && change.conversion === null;
        if (isListed && why !== null && Object.hasOwn(reasonTexts, why))
          left.push(
            csvLine([
              ...(isOfOutcomes ? [outcome?.place] : []),
              call?.sid,
              call?.date_added,
              why,
              reasonTexts[why as LeftOutReason],
            ]),
          );
      };
      const found = conversions(
        stream,
        rules,
        format,
        ledger?.delivered(destination),
        ledger?.seen(destination),
      );
      const changes = await changesToSend(found, seen).catch((error: unknown) => {
        throw io.signal.aborted
          ? new Interrupted(['nothing was written; run the command again'])
          : error;
      });

      const summary = tally.summary();
      const { add, restate, retract } = summary.changes;
      const count = `${plural(summary.rows, 'conversion')} for ${format.title}`;
      onNote(named === null ? `${shown}: ${count}` : count);
      for (const line of summaryLines(summary, format, rules)) onNote(line);
      if (summary.leftOut.size > 0 && leftOut === null)
        onNote('  add --left-out FILE to list them one by one');
      if (history > 0 && rules.from !== undefined)
        onNote(`callers are known from calls of ${plural(history, 'day')} before ${rules.from}`);
      if (named !== null)
        for (const line of sinceEarlierRuns(summary, shown, format.title)) onNote(line);

      // The tool would refuse a bad sheet too, but hours later and without a line number.
      const lines: Uint8Array[] = [];
      for await (const line of toSheet(format, rules)(changes)) lines.push(line);
      if (!args.flag('allow-retractions')) checkRetractions(summary);
      if (isDryRun) {
        await listed.show(io);
        onNote('dry run: nothing was written');
        return await result;
      }
      if (ledger) await deliverSheets(ledger, destination, changes, format, rules, path);
      else
        await saveLines(
          shown,
          shown.endsWith('.gz') ? toGzip()(lines) : [Buffer.concat(lines)],
          io,
        );
      if (ledger && add === 0) onNote(`there is nothing new to upload: ${shown} was not written`);
      if (leftOut !== null) await saveLines(leftOut, left, io);
      const notes = add > 0 ? format.notes : [];
      const more = restate + retract > 0 ? (format.adjustments?.notes ?? []) : [];
      for (const note of [...notes, ...more]) onNote(`note: ${note}`);
      return await result;
    } finally {
      await ledger?.close();
    }
  };

  return { write, history };
}

/** Refuses a name by which the sheet would be taken for what it is not. */
function refuseOtherKind(shown: string): void {
  const extension = /\.(\w+)$/.exec(shown.replace(/\.gz$/, ''))?.[1]?.toLowerCase();
  if (extension !== undefined && !['csv', 'tsv', 'txt'].includes(extension))
    throw new UsageError(
      `--output ${shown}: a sheet is a text file, and the name says another kind`,
      ['end the name in .csv, .tsv or .txt; with .gz after it the file is compressed'],
    );
}

/** What a run changes of what the ledger has of earlier ones. */
function sinceEarlierRuns(summary: Summary, shown: string, title: string): string[] {
  const { changes, unchanged, uncorrected } = summary;
  const { add, restate, retract } = changes;
  const lines = [
    `${shown}: ${plural(add, 'new conversion')}; ${unchanged} as in earlier runs are left out`,
  ];
  if (restate + retract > 0)
    lines.push(
      `${adjustmentsPath(shown)}: ${plural(restate + retract, 'adjustment')} (${restate} restated, ${retract} retracted)`,
    );
  if (uncorrected.length > 0)
    lines.push(`cannot be corrected in ${title}: ${plural(uncorrected.length, 'call')}`);
  return [...lines, ...uncorrectedLines(summary)];
}
