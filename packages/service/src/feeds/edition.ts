import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import {
  type Conversion,
  type ConversionRules,
  conversions,
  type LeftOutReason,
  toSheet,
} from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { day, formatNaive, naiveAt } from '@call-attribution/core/time';
import type { Feed, FeedSource } from './feed.ts';

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
  readonly leftOut: ReadonlyMap<LeftOutReason | 'row_refused', number>;
}

const partBytes = 65_536;
/** Days before the window that are read when only the first call of a caller counts. */
const firstCallDays = 365;

/** Makes the sheet of a feed: all conversions of its window, each checked as the tool would check it. */
export async function makeEdition(
  feed: Feed,
  source: FeedSource,
  now: number,
  before: Pick<Edition, 'etag' | 'changedAt'> | null,
): Promise<Edition> {
  const { format, account, days } = feed;
  const since = (more: number): string =>
    formatNaive(naiveAt(now - (days + more) * day, feed.rules.timeZone ?? 'UTC'));
  const rules: ConversionRules = { ...feed.rules, now, from: since(0) };
  const earlier = Math.max(rules.oncePerCallerDays ?? 0, rules.firstCallOnly ? firstCallDays : 0);
  const calls = source.calls(account, since(earlier), format.accepts.onlyExtensions);

  const leftOut = new Map<LeftOutReason | 'row_refused', number>();
  const leave = (reason: LeftOutReason | 'row_refused'): void => {
    leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
  };
  let rows = 0;
  const columns = format.columns(rules);
  const isGood = (conversion: Conversion): boolean =>
    columns.every(({ cell, pattern, isOptional }) => {
      const text = cell(conversion, rules) ?? '';
      return text === '' ? isOptional === true : pattern.test(text);
    });
  async function* good(): AsyncGenerator<Conversion> {
    for await (const outcome of conversions(unhurried(calls), rules, format)) {
      if ('leftOut' in outcome) leave(outcome.leftOut);
      else if (!isGood(outcome.conversion)) leave('row_refused');
      else {
        rows += 1;
        yield outcome.conversion;
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
  for await (const line of toSheet(headed(feed), rules).over(good())) {
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
  return { parts, bytes, etag, changedAt: isSame ? before.changedAt : now, madeAt: now, rows, leftOut };
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
