import type { Call } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { toGzip, toNdjson, toParquet } from '@call-attribution/node-stream/encoders';
import { mapCalls } from '@call-attribution/node-stream/operators';
import { type Receipt, readReceipt } from '@call-attribution/node-stream/receipts';
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

/** Records in a group of Parquet rows, which is held in memory. */
const rowGroupSize = 5_000;

/** Reads the months of an account that are due, one after the other, until it is time for others. Each is written whole, with its receipt. */
export async function turnIntoFiles(place: FilesPlace, work: TurnWork): Promise<TurnEnd> {
  const { job, account, turn, client, signal, cut, now } = work;
  const round = turn.note.round ?? now();
  let { newest, first } = turn.note;
  const held = new Map<string, Receipt>();
  let months: readonly Month[] = [];
  const note = () => ({ ...factsOf(months, held), newest, first });
  try {
    if (job.from === null) first ??= await firstMonth(client, job.filter, now(), signal);
    months = monthsOf(job, first ?? '', now());
    for (const [name, receipt] of await place.held(job, account.id)) held.set(name, receipt);
    const due = months.filter((month) => isDue(month, held.get(month.name), { round, settle: job.settle }));
    for (const [i, month] of due.entries()) {
      if (i > 0 && work.isOver()) return { kind: 'cut', note: note() };
      const written = await writeMonth(place, month, work);
      held.set(month.name, written.receipt);
      if (written.newest > (newest ?? '')) newest = written.newest;
    }
    return { kind: 'round', note: note() };
  } catch (error) {
    // Nothing was begun, or the wait is too long to keep half a file.
    if (!cut.aborted) throw error;
    return { kind: 'cut', note: months.length === 0 ? {} : note() };
  }
}

async function writeMonth(
  place: FilesPlace,
  month: Month,
  { job, account, client, signal, now, onCalls }: TurnWork,
): Promise<{ newest: string; receipt: Receipt }> {
  const writing = await place.begin(job, account.id, month.name);
  try {
    const stream = createCallStream(client, {
      filter: month.filter,
      signal,
      onError: job.skip ? 'skip' : 'fail',
    });
    let newest = '';
    let calls = 0;
    const note = mapCalls((call: Call) => {
      if (call.date_added > newest) newest = call.date_added;
      calls += 1;
      return call;
    });
    const facts = async () => ({
      source: job.baseUrl,
      accounts: [account.id],
      version: job.version,
      filter: month.filter,
      from: month.from,
      to: month.to,
      verdict: await stream.verdict,
    });
    const sink = fileSink<Call>(writing.path, { encode: encodingOf(job), receipt: facts, clock: { now } });
    await stream.through(note).into(sink);
    const receipt = (await readReceipt(writing.path))?.receipt ?? null;
    if (receipt === null) throw new Error('a receipt was written that cannot be read');
    await writing.commit();
    onCalls(calls);
    return { newest, receipt };
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
  const reasons = worst?.verdict?.gaps.map(({ why }) => why).join(', ') ?? '';
  return {
    calls: receipts.reduce((sum, { rows }) => sum + rows.count, 0),
    total:
      missing === 0
        ? receipts.reduce((sum, { rows, verdict }) => sum + missingIn(verdict) + rows.count, 0)
        : null,
    whole: missing === 0 ? faulty.length === 0 : null,
    lacks: worst === undefined ? null : `${worst.file} is ${worst.verdict?.proof ?? 'unproven'}: ${reasons}`,
  };
}

/** Calls that a verdict knows to be missing. */
const missingIn = (verdict: Receipt['verdict']): number =>
  verdict?.gaps.reduce((sum, { missing }) => sum + (missing ?? 0), 0) ?? 0;
