import { durationMillis, parseNaive } from '@call-attribution/core/time';
import { type Checkpoint, checkCheckpoint, queryHash, spanOf } from '../checkpoint/checkpoint.ts';
import { openSpans } from '../checkpoint/intervals.ts';
import { type Span, sliceOf } from '../query/time-slice.ts';
import { windowQuery } from '../query/window-query.ts';
import { IncompleteError, StreamError } from './errors.ts';
import { Ledger } from './ledger.ts';
import { Meter } from './meter.ts';
import type { StreamOptions, WindowOptions } from './options.ts';
import type { PageClient } from './page-client.ts';
import type { Verdict } from './progress.ts';
import { type Batch, Walk } from '../slicing/run.ts';

const hour = 3600_000;
// The zone furthest east is 14 hours ahead of UTC; a day more covers clocks that are wrong.
const ahead = 38 * hour;

/** One read of a query: the walk, what it counts, and what the consumer has taken. Each kind of stream stands on one. */
export class Session {
  /** What the consumer has taken. */
  readonly ledger: Ledger;
  /** The same as if it had taken every batch handed out. */
  readonly ahead: Ledger;
  readonly meter: Meter;
  readonly options: StreamOptions;
  readonly #walk: Walk;

  constructor(client: PageClient, options: StreamOptions) {
    const now = options.now ?? Date.now;
    const query = windowQuery(options.filter, client.version);
    const hash = queryHash(query, client.version);
    const from = options.checkpoint == null ? null : checkCheckpoint(options.checkpoint, hash);
    const window = options.window === false ? null : (options.window ?? {});
    const meter = new Meter(now, from);
    this.options = options;
    this.meter = meter;
    this.ledger = new Ledger(hash, from);
    this.ahead = new Ledger(hash, from);
    this.#walk = new Walk({
      client: {
        version: client.version,
        async fetchPage(request) {
          const page = await client.fetchPage(request);
          meter.answered(page.meta.attempts);
          return page;
        },
      },
      query,
      rows: positive(options.rows ?? 1000, 'rows'),
      lookahead: lookahead(options.prefetch),
      slicePages: window === null ? 0 : positive(window.pages ?? 1, 'window.pages'),
      tries: positive(window?.tries ?? 5, 'window.tries'),
      style: window?.bounds === undefined || window.bounds === 'auto' ? null : window.bounds,
      sealedBefore: sealedBefore(window ?? {}, now()),
      horizon: Math.floor((now() + ahead) / 1000) * 1000,
      todo: todo(from),
      resume: from?.place ?? null,
      onTotal: (total) => meter.expect(total),
      onReread: (slice, trouble) => meter.reread(slice.span, trouble),
    });
  }

  /** The next records, not yet entered in the ledger; null at the end. */
  async next(): Promise<Batch | null> {
    const batch = await this.#walk.next();
    if (batch === null) return null;
    this.meter.took(batch);
    this.ahead.enter(batch, 0, 'batch');
    this.ahead.settle(0);
    return batch;
  }

  /** A record of the last batch could not be read; `isLost`: nobody got its bytes either. */
  skip(index: number, isLost: boolean): void {
    this.ledger.skip(index);
    this.ahead.skip(index);
    this.meter.skipped(isLost);
  }

  /** Tells the caller how far the stream has come. */
  report(): void {
    this.options.onProgress?.(this.meter.progress());
  }

  /** The verdict of a read that came to its end. Throws when nothing proves that it was whole. */
  conclude(): Verdict {
    if (this.meter.isUnproven && this.options.incomplete !== 'report') {
      const { delivered } = this.meter.verdict(false);
      const slice = sliceOf({ from: null, to: null });
      throw new IncompleteError({ slice, expected: null, got: delivered, trouble: 'no_total', tries: 1 });
    }
    return this.meter.verdict(true);
  }

  /** Ends the requests in flight. */
  close(reason?: unknown): void {
    this.#walk.close(reason);
  }

  /** Gives a failure the checkpoint to go on from. */
  placed(error: unknown, checkpoint: Checkpoint): Error {
    if (error instanceof StreamError) error.checkpoint = checkpoint;
    return error instanceof Error ? error : new Error(String(error));
  }
}

function todo(from: Checkpoint | null): Span[] {
  const open = openSpans((from?.done ?? []).map(spanOf));
  const place = from?.place;
  if (place == null) return open;
  const begun = spanOf([place.from, place.to]);
  const behind = begun.to === null ? [] : open.slice(1);
  const [first] = open;
  if (begun.to !== null && first !== undefined && first.to !== begun.to)
    behind.unshift({ from: begun.to, to: first.to });
  return [begun, ...behind];
}

function sealedBefore({ sealedBefore: given, settle }: WindowOptions, now: number): number {
  if (given !== undefined) {
    const at = parseNaive(given);
    if (Number.isNaN(at))
      throw new RangeError(`window.sealedBefore is ${given}; expected 'YYYY-MM-DD HH:MM:SS'`);
    return at;
  }
  return Math.floor((now - durationMillis(settle ?? '14h', 'window.settle')) / 1000) * 1000;
}

function lookahead(prefetch: StreamOptions['prefetch']): { pages: number; bytes: number } {
  const { pages = 4, bytes = 64 * 2 ** 20 } =
    typeof prefetch === 'number' ? { pages: prefetch } : (prefetch ?? {});
  return { pages: positive(pages, 'prefetch'), bytes: positive(bytes, 'prefetch.bytes') };
}

function positive(value: number, name: string): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new RangeError(`${name} is ${value}; expected a whole number from 1`);
}
