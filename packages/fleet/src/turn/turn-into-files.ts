import { pipeline } from 'node:stream/promises';
import type { Call } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { toGzip, toNdjson, toParquet } from '@call-attribution/node-stream/encoders';
import { type Receipt, writtenVerdict } from '@call-attribution/node-stream/receipts';
import { type Encoding, fileSink } from '@call-attribution/node-stream/sinks';
import type { PlannedJob } from '../job.ts';
import { firstMonth, isDue, type Month, monthsOf } from './months.ts';
import type { TurnEnd, TurnWork } from './turn.ts';

/** A month that is written where it does not count yet. */
export interface MonthWriting {
  /** Where the file is written; its receipt lies next to it. */
  readonly path: string;
  /** Puts the file in its place, then its receipt. Throws `claim_lost` when somebody else writes the month by now. */
  commit(): Promise<void>;
  /** Throws `claim_lost` when it is known that somebody else writes the month by now. */
  check(): Promise<void>;
  /** Removes what was written. Never throws. */
  drop(): Promise<void>;
}

/** A folder or a bucket. */
export interface FilesPlace {
  /** The receipts of an account by their months: those whose files are as they say. */
  held(job: PlannedJob, account: string): Promise<ReadonlyMap<string, Receipt>>;
  /** Claims a month: whoever claimed it before cannot commit any more. */
  begin(job: PlannedJob, account: string, month: string): Promise<MonthWriting>;
}

/** Pages that a turn may hold. */
const prefetch = { pages: 4, bytes: 16 * 1024 * 1024 };
/** Records in a group of Parquet rows, which is held in memory. */
const rowGroupSize = 5_000;

/** Reads the next month of an account that is due, and writes it whole with its receipt. */
export async function turnIntoFiles(place: FilesPlace, work: TurnWork): Promise<TurnEnd> {
  const { job, account, turn, client, signal, cut, now } = work;
  try {
    const round = turn.note.round ?? now();
    const first =
      job.from === null ? (turn.note.first ?? (await firstMonth(client, job.filter, now(), signal))) : null;
    const months = monthsOf(job, first ?? '', now());
    const held = new Map(await place.held(job, account.id));
    const due = months.filter((month) => isDue(month, held.get(month.name), { round, settle: job.settle }));
    let { newest } = turn.note;
    const [next] = due;
    if (next !== undefined) {
      const written = await writeMonth(place, next, work);
      if (written.newest > (newest ?? '')) newest = written.newest;
    }
    const after = next === undefined ? held : await place.held(job, account.id);
    const note = { ...factsOf(months, after), newest, first };
    return { kind: due.length > 1 ? 'cut' : 'round', note };
  } catch (error) {
    // Nothing was begun, or the wait is too long to keep half a file.
    if (!cut.aborted) throw error;
    return { kind: 'cut', note: {} };
  }
}

async function writeMonth(
  place: FilesPlace,
  month: Month,
  { job, account, client, signal, now, onCalls }: TurnWork,
): Promise<{ newest: string }> {
  const writing = await place.begin(job, account.id, month.name);
  try {
    const stream = createCallStream(client, {
      filter: month.filter,
      ...{ prefetch, signal },
      onError: job.skip ? 'skip' : 'fail',
      incomplete: 'report',
    });
    // It also fails the pipeline, which says so.
    stream.verdict.catch(() => {});
    let newest = '';
    let calls = 0;
    const seen = async function* (records: AsyncIterable<Call>): AsyncGenerator<Call> {
      for await (const call of records) {
        if (call.date_added > newest) newest = call.date_added;
        calls += 1;
        yield call;
      }
    };
    const receipt = async () => ({
      source: job.baseUrl,
      accounts: [account.id],
      version: job.version,
      filter: month.filter,
      from: month.from,
      to: month.to,
      verdict: writtenVerdict(await stream.verdict, now()),
    });
    const sink = fileSink<Call>(writing.path, { encode: encodingOf(job), receipt, clock: { now } });
    await pipeline(stream, seen, sink, { signal });
    await writing.commit();
    onCalls(calls);
    return { newest };
  } catch (error) {
    // Whatever went wrong where somebody else has moved things away is no trouble of this month.
    if (!signal.aborted) await writing.check();
    throw error;
  } finally {
    await writing.drop();
  }
}

function encodingOf({ format, columns }: PlannedJob): Encoding<Call> {
  if (format === 'ndjson.gz') return [toNdjson<Call>(), toGzip()];
  return toParquet<Call>({ ...(columns === null ? {} : { columns: columns.filter(isField) }), rowGroupSize });
}

/** The job was checked: these are fields of its version. */
const isField = (_: string): _ is keyof Call & string => true;

function factsOf(months: readonly Month[], held: ReadonlyMap<string, Receipt>) {
  const receipts = months.flatMap(({ name }) => held.get(name) ?? []);
  const missing = months.length - receipts.length;
  const faulty = receipts.filter(({ verdict }) => verdict?.proof !== 'whole');
  const [worst] = faulty;
  const reasons = worst?.verdict?.reasons.map(({ code }) => code).join(', ') ?? '';
  return {
    calls: receipts.reduce((sum, { rows }) => sum + rows.count, 0),
    total:
      missing === 0
        ? receipts.reduce((sum, { rows, verdict }) => sum + (verdict?.counted ?? rows.count), 0)
        : null,
    whole: missing === 0 ? faulty.length === 0 : null,
    lacks: worst === undefined ? null : `${worst.file} is ${worst.verdict?.proof ?? 'unproven'}: ${reasons}`,
  };
}
