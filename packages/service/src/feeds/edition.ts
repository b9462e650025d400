import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { ConversionRules, Converted, LedgerEntry, LeftOutReason } from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { formatNaive } from '@call-attribution/core/time';
import { readPeriod } from '@call-attribution/questions';
import type { Feed, FeedSource } from './feed.ts';
import { earlierIn, periodOf } from './once.ts';

/** A feed as it was at one moment. */
export interface Edition {
  /** Its bytes, in parts. */
  readonly parts: readonly Buffer[];
  readonly bytes: number;
  /** Changes whenever a byte does. */
  readonly etag: string;
  /** Since when it has had these bytes, in milliseconds since 1970. */
  readonly changedAt: number;
  /** When it was made. */
  readonly madeAt: number;
  readonly rows: number;
  /** How many calls are left out, by reason. */
  readonly leftOut: ReadonlyMap<FeedReason, number>;
  /** What the ledger calls this period, and what it will note; null for a feed that repeats its window. */
  readonly period: string | null;
  readonly entries: readonly LedgerEntry[];
}

/** Why a call is not in a feed: as for a sheet, or because it was there in an earlier period. */
type FeedReason = LeftOutReason | 'sent_before';

const partBytes = 65_536;

/** The time from which on a feed has calls, or reads them, so many days earlier: a midnight, or for parts of days the hours up to now. */
export function sinceOf({ days, rules }: Feed, now: number, more = 0): string {
  const count = days + more;
  const said = Number.isInteger(count) ? { from: `${count}d` } : { period: `last ${count * 24} hours` };
  return formatNaive(readPeriod(said, { now, timeZone: rules.timeZone ?? 'UTC' }).from ?? 0);
}

/** Makes the sheet of a feed: all conversions of its window, each checked as the tool would check it. */
export async function makeEdition(
  feed: Feed,
  source: FeedSource,
  now: number,
  before: Pick<Edition, 'etag' | 'changedAt'> | null,
): Promise<Edition> {
  const { format, account } = feed;
  // A service without feeds starts without them.
  const { conversions, entryOf, toSheet } = await import('@call-attribution/conversions');
  const rules: ConversionRules = { ...feed.rules, now, from: sinceOf(feed, now) };
  const calls = source.calls(account, sinceOf(feed, now, feed.history), format.accepts.onlyExtensions);

  const period = periodOf(feed, now);
  const wasEarlier = earlierIn(feed, period);
  const entries: LedgerEntry[] = [];
  const leftOut = new Map<FeedReason, number>();
  const leave = (reason: FeedReason): void => {
    leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
  };
  let rows = 0;
  async function* counting(): AsyncGenerator<Converted> {
    for await (const outcome of conversions(unhurried(calls), rules, format)) {
      if ('leftOut' in outcome) leave(outcome.leftOut);
      else if (wasEarlier(outcome.conversion.orderId)) leave('sent_before');
      else {
        rows += 1;
        if (period !== null) entries.push(entryOf(outcome.conversion));
        yield outcome;
      }
    }
  }

  const parts: Buffer[] = [];
  const hash = createHash('sha256');
  let waiting: Uint8Array[] = [];
  let size = 0;
  let bytes = 0;
  const flush = (): void => {
    if (size > 0) parts.push(Buffer.concat(waiting));
    waiting = [];
    size = 0;
  };
  for await (const line of toSheet(headed(feed), rules)(counting())) {
    hash.update(line);
    waiting.push(line);
    size += line.length;
    bytes += line.length;
    if (size >= partBytes) flush();
  }
  flush();
  // Weak, because the same content may be sent packed or plain.
  const etag = `W/"${hash.digest('base64url').slice(0, 27)}"`;
  const isSame = before?.etag === etag;
  const changedAt = isSame ? before.changedAt : now;
  return { parts, bytes, etag, changedAt, madeAt: now, rows, leftOut, period, entries };
}

/** Milliseconds of work after which other requests get their turn. */
const sliceMs = 10;

/** A store in this process returns calls without ever letting the event loop run, and a sheet may have many thousands. */
async function* unhurried(calls: AsyncIterable<Call>): AsyncGenerator<Call> {
  let until = performance.now() + sliceMs;
  for await (const call of calls) {
    yield call;
    if (performance.now() < until) continue;
    await setImmediate();
    until = performance.now() + sliceMs;
  }
}

/** Data Manager wants the headings in the first row; times have their offset, so the line above them is not needed. */
function headed({ format }: Feed): Pick<Feed['format'], 'columns' | 'delimiter' | 'preamble'> {
  const { columns, delimiter, preamble } = format;
  const isGoogle = format.name.startsWith('google-ads');
  return { columns, delimiter, ...(isGoogle || preamble === undefined ? {} : { preamble }) };
}
