import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type {
  CallChange,
  ConversionRules,
  Ledger,
  LedgerEntry,
  LeftOutReason,
  SeenRow,
} from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { formatNaive, periodOfText } from '@call-attribution/core/time';
import { where } from '@call-attribution/query-dsl';
import { readOutcomes, readPeriod } from '@call-attribution/questions';
import { type Store, selectionOf } from '@call-attribution/store';
import { fileUnavailable, fromFiles } from '../http/refusal.ts';
import type { Feed, FeedOutcomes, ReportFeed, SheetFeed } from './feed.ts';

/** The sheet of a feed as it was at one moment. */
export interface Sheet {
  readonly body: Buffer;
  /** Changes whenever a byte does. */
  readonly etag: string;
  /** When it was made. */
  readonly madeAt: number;
  readonly rows: number;
  /** How many calls are left out, by reason. */
  readonly leftOut: ReadonlyMap<LeftOutReason, number>;
  /** What the ledger calls this period; null for a feed that repeats its window. */
  readonly period: string | null;
  /** What the ledger will note of this period. */
  readonly entries: readonly LedgerEntry[];
  /** What it will note of outcomes that were read and are not in the sheet. */
  readonly seen: readonly SeenRow[];
}

/**
 * The time from which on a feed has calls, or reads them, so many days earlier: a midnight, or for
 * parts of days the hours up to now.
 */
export function sinceOf({ days, rules }: SheetFeed, now: number, more = 0): string {
  const count = days + more;
  const said = Number.isInteger(count)
    ? { from: `${count}d` }
    : { period: `last ${count * 24} hours` };
  return formatNaive(readPeriod(said, { now, timeZone: rules.timeZone ?? 'UTC' }).from ?? 0);
}

/**
 * What the ledger calls a feed in the period of a time; null for a feed that repeats its window.
 */
export function periodOf({ path, once }: Feed, now: number): string | null {
  if (once === null) return null;
  return `feed ${path} ${new Date(Math.floor(now / once.every) * once.every).toISOString()}`;
}

/** What the ledger calls rows of outcomes that a feed has read and not sent, in any period. */
const rowsOf = (path: string): string => `feed ${path}`;

/** A file that was written to so short a time ago may not be whole yet, in milliseconds. */
const settling = 5_000;

/**
 * What the file of a feed says. One that is missing, cannot be read or is being written is refused: a
 * sheet without some outcomes would look like one in which they were not there.
 */
async function outcomesOf(
  { path, dates, window }: FeedOutcomes,
  timeZone: string | null,
  since: string,
): Promise<NonNullable<ConversionRules['outcomes']>> {
  const name = basename(path);
  return fromFiles(async () => {
    const { readTable } = await import('@call-attribution/settings/tables');
    const before = await stat(path).catch(() => null);
    const rows = await readTable(path, name);
    const { mtimeMs, size } = await stat(path);
    const age = Math.abs(Date.now() - mtimeMs);
    if (age < settling || mtimeMs !== before?.mtimeMs || size !== before.size)
      throw fileUnavailable(`${name} is being written: try again.`);
    const { all } = readOutcomes([{ name, rows }], { timeZone, dates });
    const period = periodOfText({ from: since, to: null });
    return { all, window, period, isComplete: false };
  });
}

/** Lines that are put together. */
const linesAtOnce = 1_000;

/**
 * Makes the sheet of a feed: all conversions of its window, each checked as the tool would check
 * it.
 *
 * @param sending sheets of it that are on their way: what they have in an earlier period counts as
 * sent, and comes later when their client does not take it.
 */
export async function makeSheet(
  feed: SheetFeed,
  store: Pick<Store, 'calls'>,
  now: number,
  sending: readonly Sheet[],
): Promise<Sheet> {
  const { format, account, once, path, history, outcomes } = feed;

  // A service without feeds starts without them.
  const { conversions, toSheet } = await import('@call-attribution/conversions');
  const since = sinceOf(feed, now);
  const rules =
    outcomes === null
      ? { ...feed.rules, now, from: since }
      : { ...feed.rules, now, outcomes: await outcomesOf(outcomes, feed.rules.timeZone, since) };
  const read = where('date_added').from(sinceOf(feed, now, history));
  const calls = store.calls(
    account,
    selectionOf(read, { extensions: format.accepts.onlyExtensions || outcomes !== null }),
  );
  const period = periodOf(feed, now);
  const noted = (once?.ledger.destinations() ?? [])
    .filter((name) => name !== period && name.startsWith(`feed ${path} `))
    .flatMap((name) => [...(once?.ledger.delivered(name).keys() ?? [])]);
  const underWay = sending
    .filter((sheet) => sheet.period !== period)
    .flatMap(({ entries }) => entries.map(({ key }) => key));
  const earlier = new Set([...noted, ...underWay]);
  const entries: LedgerEntry[] = [];
  const seen: SeenRow[] = [];
  const leftOut = new Map<LeftOutReason, number>();
  let rows = 0;

  // The ledger is asked by period and not by call, so each call is new here or left out for a
  // reason of its own.
  async function* counted(): AsyncGenerator<CallChange> {
    const rowsBefore = once?.ledger.seen(rowsOf(path));
    for await (const change of conversions(
      unhurried(calls),
      rules,
      format,
      undefined,
      rowsBefore,
    )) {
      const { entry } = change;
      if (change.seen !== null) seen.push(change.seen);
      if (entry !== null && !earlier.has(entry.key)) {
        rows += 1;
        if (period !== null) entries.push(entry);
        yield change;
        continue;
      }

      const reason = entry === null ? (change.why as LeftOutReason) : 'sent_before';
      leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
    }
  }

  // Data Manager wants the headings in the first row; times have their offset, so the line above
  // them is not needed.
  const { columns, delimiter, preamble } = format;
  const isGoogle = format.name.startsWith('google-ads');
  const layout = {
    columns,
    delimiter,
    ...(isGoogle || preamble === undefined ? {} : { preamble }),
  };
  const parts: Uint8Array[] = [];
  const lines: Uint8Array[] = [];
  for await (const line of toSheet(layout, rules)(counted())) {
    lines.push(line);
    if (lines.length === linesAtOnce) parts.push(Buffer.concat(lines.splice(0)));
  }

  const body = Buffer.concat([...parts, ...lines]);

  return { body, etag: etagOf(body), madeAt: now, rows, leftOut, period, entries, seen };
}

/** Weak, because the same content may be sent packed or plain. */
const etagOf = (body: Buffer): string =>
  `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;

/** Makes the sheet of a feed that is a report: its rows, below the names of its columns. */
export async function makeReport(
  { account, report }: ReportFeed,
  store: Store,
  now: number,
): Promise<Sheet> {
  const { ask } = await import('@call-attribution/store');
  const { csvLine } = await import('@call-attribution/node-stream/encoders');
  const plan = await fromFiles(() => report.plan(account, now));
  const [answer] = await ask([plan], [{ store, account }]);
  const { columns = [], rows = [] } = answer ?? {};
  const names = columns.map(({ name }) => name);
  const lines = rows.map((row) =>
    csvLine(
      names.map((name) => row[name]),
      { safe: true },
    ),
  );
  const body = Buffer.from([csvLine(names), ...lines].join(''));
  const sheet = { leftOut: new Map(), period: null, entries: [], seen: [] };
  return { ...sheet, body, etag: etagOf(body), madeAt: now, rows: rows.length };
}

/** Milliseconds of work after which other requests get their turn. */
const sliceMs = 10;

/**
 * A store in this process returns calls without ever letting the event loop run, and a sheet may
 * have many thousands.
 */
async function* unhurried(calls: AsyncIterable<Call>): AsyncGenerator<Call> {
  let until = performance.now() + sliceMs;
  for await (const call of calls) {
    yield call;
    if (performance.now() < until) continue;
    await setImmediate();
    until = performance.now() + sliceMs;
  }
}

const noting = new WeakMap<Ledger, Promise<void>>();

/** Notes that the calls of a period were sent whole. A ledger takes one note after the other. */
export function noteSent(
  ledger: Ledger,
  path: string,
  period: string,
  { entries, seen }: Pick<Sheet, 'entries' | 'seen'>,
): Promise<void> {
  const note = async (): Promise<void> => {
    await ledger.note(rowsOf(path), seen);
    const unfinished = ledger.pending(period);
    if (unfinished) await ledger.abandon(unfinished);
    const known = ledger.delivered(period);
    const news = entries.filter(({ key }) => !known.has(key));
    if (news.length > 0) await ledger.commit(await ledger.prepare(period, news));
  };

  const done = (noting.get(ledger) ?? Promise.resolve()).then(note);
  noting.set(
    ledger,
    done.catch(() => undefined),
  );
  return done;
}
