import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { periodOfText } from '@call-attribution/core/time';
import {
  exportMonths,
  type MonthFile,
  type MonthSource,
  type MonthsSummary,
  monthFolder,
  type Span,
  type Verdict,
} from '@call-attribution/node-stream';
import { verdictOfCopies } from '@call-attribution/node-stream/receipts';
import { allOf, type Filter } from '@call-attribution/query-dsl';
import { printRemovals } from '@call-attribution/store';
import type { Args } from '../args.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { type CopySource, isCopy, periodOfFilter, withScope } from '../input/copy-source.ts';
import { sayExtensions } from '../input/filter.ts';
import { fileError, say } from '../io.ts';
import { outputOf } from '../output/index.ts';
import { bytes, plural } from '../terminal/numbers.ts';
import { whileWaiting } from '../terminal/waiting.ts';
import type { Job, Writer } from './each.ts';

/** Writes a folder of Parquet files, a file a month, each with its receipt. */
export function monthsWriter(args: Args, cwd: string): Writer {
  const wrong = ['format', 'fields', 'resume'].find(
    (name) => args.flag(name) && args.text(name) !== 'parquet',
  );
  if (wrong !== undefined)
    throw new UsageError(
      `--${wrong} cannot be used with --partition: the folder has Parquet files with all fields, and the same command writes what is missing`,
      [`remove --${wrong}`],
    );

  const shown = outputOf(args);
  const path = resolve(cwd, shown);
  if (shown === '-' || statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`--partition writes a folder, and --output ${shown} is not one`);
  return (job) => exportByMonth(path, shown, job);
}

/** Months that have not changed since an earlier run stay as they are. */
async function exportByMonth(path: string, shown: string, job: Job): Promise<Verdict | null> {
  const { args, source, settings, filter, stream, io } = job;
  const version = settings.apiVersion.value;
  sayExtensions(filter, version, io);
  const where = args.text('where');

  /** What receipts say of where the calls come from. */
  const origin = { version, address: source.address, ...(where === null ? {} : { where }) };
  const target = monthFolder(path);
  const files: MonthFile[] = [];
  const options = {
    filter,
    ...(stream.onError === undefined ? {} : { onError: stream.onError }),
    ...(settings.account === null ? {} : { name: settings.account.name }),
    signal: io.signal,
    clock: io.clock,
    onFile: (file: MonthFile) => files.push(file),
  };
  let summary: MonthsSummary | null = null;
  try {
    if (isCopy(source)) {
      const period = periodOfFilter(filter);
      await source.sayAnswered(period);
      await whileWaiting(`writing ${shown}`, async () => {
        for (const account of await source.accounts()) {
          const verdict = await source.store.verdict(account, period);
          const own = verdict === null ? filter : withScope(filter, verdict);
          const copy = { ...origin, ...(await copyOf(source, account, own)) };
          await exportMonths(copy, target, { ...options, account, filter: own });
        }
      });
    } else {
      const account = settings.account?.id;
      const named = account ? { account } : {};
      summary = await exportMonths({ ...origin, ...apiOf(job) }, target, { ...options, ...named });
    }
  } catch (error) {
    if (!io.signal.aborted) throw fileError(error, shown);
    throw new Interrupted([
      'each file that was written is complete; run the same command again for the others',
    ]);
  }

  const calls = files.reduce((sum, file) => sum + file.calls, 0);
  const kept = files.filter(({ isKept }) => isKept).length;
  const size = files.reduce((sum, file) => sum + file.bytes, 0);
  const note = kept > 0 ? ` (${kept} unchanged)` : '';
  say(
    io,
    `${shown}: ${plural(calls, 'call')} in ${plural(files.length, 'file')}${note}, ${bytes(size)}`,
  );
  return (summary?.verdict as Verdict | undefined) ?? null;
}

/** The API, period by period. */
function apiOf({ calls, filter, stream }: Job): Pick<MonthSource, 'read'> {
  return {
    async read(period, signal) {
      const options = { ...stream, filter: within(filter, period), ...(signal ? { signal } : {}) };
      const reading = await calls.read(options);
      return { calls: reading.stream, verdict: async () => (await reading.verdict) as Verdict };
    },
  };
}

/** An account of a copy, which says nothing each time it is read. */
async function copyOf(source: CopySource, account: string, filter: Filter) {
  return {
    removals: await printRemovals(source.store, [account]),
    read(period: Span) {
      let count = 0;

      const calls = async function* () {
        for await (const call of source.callsOf(within(filter, period), [account])) {
          count += 1;
          yield call;
        }
      };

      const verdict = async () => {
        const copy = await source.store.verdict(account, periodOfText(period));
        return copy === null ? null : verdictOfCopies(count, [copy]);
      };

      return { calls: calls(), verdict };
    },
  };
}

/** A filter with a period of its own, both ends included. */
function within(filter: Filter, { from, to }: Span): Filter {
  if (from === null && to === null) return filter;
  const end = (text: string | null) => (text === null ? null : { text, inclusive: true });
  return allOf(filter, {
    clauses: [{ kind: 'range', field: 'date_added', lower: end(from), upper: end(to) }],
  });
}
