import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Call, type Clock, systemClock } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import {
  addMonths,
  type Duration,
  durationMillis,
  formatNaive,
  intersect,
  parseNaive,
  periodOf,
  periodOfText,
  second,
} from '@call-attribution/core/time';
import { printFilter } from '@call-attribution/query-dsl';
import { addressOf, type CallQuery, callQuery, type PageClient, zones } from '../call-source.ts';
import { toParquet } from '../encoders/parquet.ts';
import { CheckpointError } from '../errors.ts';
import { receiptPath } from '../files/whole-file.ts';
import { defineOperator, through } from '../operators/chain.ts';
import type { RowForm } from '../operators/operator.ts';
import { type Input, sourceOf } from '../operators/sources.ts';
import { type CallStreamOptions, createCallStream } from '../read.ts';
import {
  parseReceipt,
  type Receipt,
  type ReceiptChanges,
  type ReceiptFacts,
  RowDigest,
  receiptOf,
  sealed,
} from '../receipts/receipt.ts';
import { gapOf, type Position, proofOf, type Span, type Verdict } from '../verdict.ts';
import type { MonthTarget } from './target.ts';

/**
 * What has the calls of one account, and can be asked for those of a period: the copy in a store,
 * for instance.
 */
export interface MonthSource {
  /** The form of its filters. */
  readonly version: 'v2' | 'v3';
  /** What receipts say of where the calls come from, such as `sqlite:calls.db`. */
  readonly address: string | null;
  /** A condition that the calls fulfil besides the filter, for receipts. */
  readonly where?: string;
  /**
   * What was erased and purged from it, as JSON; null for nothing. It goes into the folder of the
   * account before the calls. Of a source that says it and not what is current, all months are
   * written again.
   */
  readonly removals?: string | null;
  /**
   * Whether the file of a receipt still has what the source holds of its period. A source that can
   * say so is asked in place of the age of a month.
   */
  isCurrent?(receipt: Receipt): Promise<boolean>;
  /** The calls of a period, both ends included. */
  read(period: Span, signal: AbortSignal | undefined): MonthReading | Promise<MonthReading>;
}

/** Calls that are read. */
export interface MonthReading {
  /** The calls. Those of an iterable that is no stream come in the order of their time. */
  readonly calls: Input<Call>;
  /** What is proved of them, asked when all were read. */
  readonly verdict: () => Promise<Verdict<Position> | null> | Verdict<Position> | null;
  /**
   * Up to which change of the source they hold, asked when all were read; null when it changed
   * meanwhile.
   */
  readonly changes?: () => Promise<ReceiptChanges | null>;
}

/** A month of calls in its file. */
export interface MonthFile {
  /** `2026-10`. */
  readonly month: string;
  /**
   * The name of the file, such as `account=101/month=2026-10.parquet`. Its receipt lies next to it.
   */
  readonly name: string;
  /** How many calls it has. */
  readonly calls: number;
  /** Its length. */
  readonly bytes: number;
  /** It was there, and was not written again. */
  readonly isKept: boolean;
  /** What is proved of it. */
  readonly verdict: Verdict<Position> | null;
}

/** Settings of `exportMonths`. The range of `date_added` in the filter is the period. */
export interface MonthsOptions extends Pick<CallStreamOptions, 'filter' | 'onError' | 'signal'> {
  /** The ID of the account, which names its folder. Default: that of the first call. */
  readonly account?: string | undefined;
  /** The name of the account, for receipts. */
  readonly name?: string | undefined;
  /** From this age on, months of the API are not read again. Default `30d`. */
  readonly settle?: Duration | undefined;
  /**
   * Months that were written since then are kept, in milliseconds since 1970: when a run began that
   * this one goes on with.
   */
  readonly since?: number | undefined;
  /** Ends after the month in which so many pages have been read. */
  readonly maxPages?: number | undefined;
  /** Called for each month. */
  readonly onFile?: ((file: MonthFile) => void) | undefined;
  /** The clock. Default: that of the machine. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

/** What an export by month has written, and what is proved of all of it. */
export interface MonthsSummary {
  /** The ID of the account; null when it has no calls and was not given. */
  readonly account: string | null;
  /** Every month of the period. */
  readonly files: readonly MonthFile[];
  /** Calls in all of them. */
  readonly calls: number;
  /** Months are left: it ended by `maxPages`. */
  readonly isCut: boolean;
  /** What is proved of the period. */
  readonly verdict: Verdict<Position>;
}

/**
 * Writes the calls of an account as Parquet, a file a month with its receipt:
 * `account=101/month=2026-10.parquet`. Each file appears whole or not at all, and is proved by
 * itself. A later run into the same place reads the months that are missing, not whole, or young
 * enough to have changed; of a copy, those that have changed. A month that is there never gets a shorter period than it had.
 *
 * @example
 * const { verdict } = await exportMonths(client, monthFolder('calls'), { filter: 'inc_gce:1' });
 */
export async function exportMonths(
  source: PageClient | MonthSource,
  target: MonthTarget,
  options: MonthsOptions = {},
): Promise<MonthsSummary> {
  const { signal, onFile, onError, name, clock = systemClock } = options;
  const { since = Number.POSITIVE_INFINITY, maxPages = Number.POSITIVE_INFINITY } = options;
  if (typeof Object(target).list !== 'function')
    throw new ConfigurationError(
      'invalid_option',
      "The second argument of exportMonths is where files go, such as monthFolder('calls').",
    );

  const settle = durationMillis(options.settle ?? '30d', 'settle');
  const query = callQuery(options.filter, source.version);
  const from = 'fetchPage' in source ? sourceOfClient(source, query, onError) : source;
  const first = await firstCall(from, query.asked, signal);
  const account = options.account ?? first.call?.acct_id ?? null;
  if (account === null)
    return { account, files: [], calls: 0, isCut: false, verdict: first.verdict };
  if (!isAccountName(account))
    throw new ConfigurationError(
      'invalid_option',
      `The ID of the account names a folder. It must be ${accountNameWords}.`,
    );

  const folder = `account=${account}`;
  const unlock = await target.lock?.(folder);
  try {
    const held = await heldIn(target, folder, from, query);
    if (from.removals) await target.put(`${folder}/_calls.removals.json`, textOf(from.removals));

    const months = new Set([...held.keys()].filter((month) => isAsked(month, query.asked)));
    if (first.call !== null) months.add(monthOf(first.call.date_added));

    // On this side of all zones, so that no month is written before it has begun. What is later is
    // found with the last one.
    const present = clock.now() - zones;
    const end = query.asked.to === null ? present : parseNaive(query.asked.to) - second;
    const last = monthOf(formatNaive(end));

    /** Months without calls, which stand for those after them up to the next call. */
    const quiet = new Set([...held].flatMap(([month, { receipt }]) => isQuiet(month, receipt)));
    /** What this run has written. */
    const written = new Set<string>();
    const files = new Map<string, MonthFile>();
    let pages = 0;
    let month = nextOf(months, files);
    while (month !== null && (pages < maxPages || written.has(month))) {
      signal?.throwIfAborted();
      const file = `${folder}/month=${month}.parquet`;
      const { receipt: before = null, size = 0 } = held.get(month) ?? {};
      const next = after(month);
      if (quiet.has(month)) {
        const { to } = readOf(month, months, query.asked, null);
        const isKnown = before?.to === to && (to !== null || written.has(month));
        const rest = { from: beginOf(next), to };
        const { call = null } = isKnown ? {} : await firstCall(from, rest, signal);
        if (call !== null) months.add(monthOf(call.date_added));
      } else if (next <= last) months.add(next);

      const period = readOf(month, months, query.asked, before);
      const filter = printFilter(query.within(period, period.to === query.asked.to));
      const isComplete = before?.bytes?.length === size && before.filter === filter;
      const isDone =
        isComplete &&
        (written.has(month) ||
          Date.parse(before.writtenAt) >= since ||
          (await isUnchanged(from, month, before, settle)));
      if (!isDone) {
        const reading = await from.read(period, signal);
        const { receipt, ...read } = await writeMonth(reading, target, file, month, clock, {
          source: from.address,
          version: from.version,
          filter,
          asked: query.asked,
          ...period,
          accounts: [account],
          ...(name === undefined ? {} : { name }),
          ...(from.where === undefined ? {} : { where: from.where }),
        });
        written.add(month);
        pages += read.pages;

        // Where calls of months without a file came with it, it is written again: its receipt would
        // say that there are none.
        const found = [...read.others].filter(
          (other) => !months.has(other) && isAsked(other, query.asked),
        );
        for (const other of found) months.add(other);
        const isProved = found.length === 0;
        if (isProved) await target.put(receiptPath(file), textOf(sealed(receipt)));
        held.set(month, { receipt, size: isProved ? (receipt.bytes?.length ?? 0) : -1 });

        // Where no call is, the next month may have none either, and so on for years.
        if (read.others.size === 0 && !quiet.has(month)) {
          quiet.add(month);
          if (!held.has(next)) months.delete(next);
        }

        // It is written again where it now ends with another month.
        month = nextOf(months, files);
        continue;
      }

      const { rows, bytes, verdict = null } = before ?? {};
      files.set(month, {
        month,
        name: file,
        calls: rows?.count ?? 0,
        bytes: bytes?.length ?? 0,
        isKept: !written.has(month),
        verdict,
      });
      onFile?.(files.get(month) as MonthFile);
      month = nextOf(months, files);
    }

    return summaryOf(account, [...files.values()], month, query.asked);
  } finally {
    await unlock?.();
  }
}

/** What the files hold together, and what is left of what was asked. */
function summaryOf(
  account: string,
  files: readonly MonthFile[],
  month: string | null,
  asked: CallQuery['asked'],
): MonthsSummary {
  const all = [...files].sort((a, b) => (a.month < b.month ? -1 : 1));
  const gaps = all.flatMap(({ verdict }) => verdict?.gaps ?? []);
  const left = month === null ? null : { from: beginOf(month), to: asked.to };
  if (left !== null) gaps.push(gapOf<Position>(left, 'unread', null));
  return {
    account,
    files: all,
    calls: all.reduce((sum, { calls }) => sum + calls, 0),
    isCut: month !== null,
    verdict: {
      proof: all.some(({ verdict }) => verdict === null) ? 'unproven' : proofOf(gaps),
      asked,
      proved: all.reduce((sum, { verdict }) => sum + (verdict?.proved ?? 0), 0),
      gaps,
      notes: all.at(-1)?.verdict?.notes ?? [],
      only: [],
      unasked: [],
    },
  };
}

const sourceOfClient = (
  client: PageClient,
  query: CallQuery,
  onError: MonthsOptions['onError'],
): MonthSource => ({
  version: client.version,
  address: addressOf(client),
  read(period, signal) {
    const calls = createCallStream(client, { filter: query.within(period), onError, signal });
    return { calls, verdict: () => calls.verdict() };
  },
});

/**
 * The earliest call, whatever the order of the list: slices of time come in order, calls within one
 * need not.
 */
async function firstCall(
  source: MonthSource,
  period: Span,
  signal: AbortSignal | undefined,
): Promise<{ readonly call: Call | null; readonly verdict: Verdict<Position> }> {
  const { calls, verdict } = await source.read(period, signal);
  let first: Call | null = null;
  let begin: string | null | undefined;
  for await (const { items, range } of sourceOf(calls).pages()) {
    begin ??= range?.from;
    if (first !== null && (range === null || range.from !== begin)) break;
    for (const call of items)
      if (isTimed(call) && (first === null || call.date_added < first.date_added)) first = call;
  }

  const proved = first === null ? await verdict() : null;
  const counts = { asked: period, proved: 0, gaps: [], notes: [], only: [], unasked: [] };
  return { call: first, verdict: proved ?? { proof: 'unproven', ...counts } };
}

const isTimed = ({ date_added }: Call): boolean => !Number.isNaN(parseNaive(date_added));

/**
 * The months of an account that are there. Throws when they are of other calls: a folder would hold
 * some of both.
 */
async function heldIn(
  target: MonthTarget,
  folder: string,
  { version, where, address }: MonthSource,
  query: CallQuery,
) {
  const held = new Map<string, { readonly receipt: Receipt | null; readonly size: number }>();
  for (const { name, size } of await target.list(folder)) {
    const [, month] = /\/month=(\d{4}-\d\d)\.parquet$/.exec(name) ?? [];
    if (month === undefined) continue;
    const text = await target.read(receiptPath(name));
    const receipt = text === null ? null : parseReceipt(text).receipt;
    const isOther =
      receipt !== null &&
      (receipt.version !== version ||
        receipt.where !== where ||
        callQuery(receipt.filter ?? '', version).conditions !== query.conditions);
    if (isOther)
      throw new CheckpointError(
        'checkpoint_invalid',
        `${folder} has an export of other calls: those of ${name} are chosen by ${[receipt.filter || 'no filter', ...(receipt.where ? [receipt.where] : [])].join(' and ')}. Export into another folder.`,
      );
    if (receipt !== null && receipt.source !== address)
      throw new CheckpointError(
        'checkpoint_invalid',
        `${folder} has an export of other calls: those of ${name} come from ${receipt.source ?? 'an unknown place'}, and these from ${address ?? 'an unknown place'}. Export into another folder.`,
      );
    held.set(month, { receipt, size });
  }

  return held;
}

/**
 * Writes what is read of a month, and makes its receipt. `others` are months of calls that came with
 * it.
 */
async function writeMonth(
  reading: MonthReading,
  target: MonthTarget,
  file: string,
  month: string,
  clock: Pick<Clock, 'now'>,
  facts: Omit<ReceiptFacts, 'verdict'>,
): Promise<{
  readonly receipt: Receipt;
  readonly pages: number;
  readonly others: ReadonlySet<string>;
}> {
  const encoder = toParquet<Call>();
  const form = encoder.rows as RowForm<Call>;
  const digest = new RowDigest();
  const others = new Set<string>();
  let pages = 0;
  let elsewhere = 0;
  let length = 0;
  const ofMonth = defineOperator<Call, Call>({
    name: 'month',
    gives: 'other',
    begin: () => ({
      page(calls) {
        pages += 1;
        const own = calls.filter((call) => !isTimed(call) || monthOf(call.date_added) === month);
        elsewhere += calls.length - own.length;
        for (const call of calls) if (isTimed(call)) others.add(monthOf(call.date_added));
        for (const call of own) digest.add(form.text(call));
        return own;
      },
    }),
  });
  const hash = createHash('sha256');
  let verdict: Verdict<Position> | null = null;

  const bytes = async function* (): AsyncGenerator<Uint8Array, void, void> {
    for await (const { items } of through(reading.calls, ofMonth, encoder).pages())
      for (const chunk of items) {
        hash.update(chunk);
        length += chunk.length;
        yield chunk;
      }
    verdict = await reading.verdict();
  };

  await target.put(file, bytes());
  const found = verdict as Verdict<Position> | null;

  // Calls at the border belong to the file of their own month.
  const proved =
    found === null ? null : { ...found, proved: Math.max(0, found.proved - elsewhere) };
  const changes = (await reading.changes?.()) ?? null;
  const receipt = receiptOf(
    file,
    { ...facts, ...(changes === null ? {} : { changes }), verdict: proved },
    {
      rows: { ...digest.result(), format: form.format, fields: form.fields },
      bytes: { length, sha256: hash.digest('hex') },
      writtenAt: new Date(clock.now()).toISOString(),
    },
  );
  return { receipt, pages, others };
}

const textOf = (text: string): Readable => Readable.from([Buffer.from(text)]);

const monthOf = (time: string): string => time.slice(0, 7);
const beginOf = (month: string): string => `${month}-01 00:00:00`;

const after = (month: string): string =>
  monthOf(formatNaive(addMonths(parseNaive(beginOf(month)), 1)));

const nextOf = (months: ReadonlySet<string>, done: ReadonlyMap<string, unknown>): string | null =>
  [...months].filter((month) => !done.has(month)).sort()[0] ?? null;

/** The month of a file without calls that stands for more than that month; else nothing. */
const isQuiet = (month: string, receipt: Receipt | null): string[] => {
  const { rows, to = null } = receipt ?? {};
  return rows?.count === 0 && (to === null || to > beginOf(after(month))) ? [month] : [];
};

/** Whether a file of an earlier run has what would be read now. */
async function isUnchanged(
  source: MonthSource,
  month: string,
  receipt: Receipt,
  settle: number,
): Promise<boolean> {
  if (source.isCurrent !== undefined) return source.isCurrent(receipt);
  return source.removals === undefined && isSettled(month, receipt, settle);
}

/** Whether all that a file is about was old enough when it was written, and is proved. */
function isSettled(month: string, { writtenAt, verdict, to }: Receipt, settle: number): boolean {
  if (to === null || verdict?.proof !== 'whole') return false;
  return Date.parse(writtenAt) >= parseNaive(max(to, beginOf(after(month)))) + settle;
}

/** Is any of a month asked for? The last moment that is asked for is included. */
function isAsked(month: string, { from, to }: Span): boolean {
  const asked = periodOfText({ from, to });
  const end = asked.to === null ? null : asked.to + second;
  const begin = parseNaive(beginOf(month));
  return intersect(periodOf(begin, addMonths(begin, 1)), periodOf(asked.from, end)) !== null;
}

/**
 * What is read of a month: up to where the next one of the list begins, so that nothing lies
 * between two of them. Where there is a file of more of the month, it is read as far as that one
 * went.
 */
function readOf(
  month: string,
  months: ReadonlySet<string>,
  asked: Span,
  receipt: Receipt | null,
): Span {
  const sorted = [...months].sort();
  const next = sorted[sorted.indexOf(month) + 1];
  const begin = beginOf(month);
  const end = beginOf(after(month));
  let from = month === sorted[0] ? asked.from : begin;
  let to = next === undefined ? asked.to : beginOf(next);
  if (receipt === null) return { from, to };
  if (from !== null && from > begin)
    from = [from, max(receipt.from ?? begin, begin)].sort()[0] ?? from;
  if (to !== null && to < end) to = max(to, [receipt.to ?? end, end].sort()[0] ?? to);
  return { from, to };
}

const max = (a: string, b: string): string => (a > b ? a : b);
