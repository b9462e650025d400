import { durationMillis, hour, parseNaive, second } from '@call-attribution/core/time';
import { type Checkpoint, checkCheckpoint, queryHash, spansToRead } from '../checkpoint/checkpoint.ts';
import { windowQuery } from '../query/window-query.ts';
import { type Batch, type PageClient, Run } from '../slicing/run.ts';
import { newPlan, type PlanSettings } from '../slicing/state.ts';
import { errorOf, IncompleteError, StreamError } from './errors.ts';
import { Ledger } from './ledger.ts';
import type { StreamOptions, WindowOptions } from './options.ts';
import { Meter, type Verdict } from './progress.ts';

// The time zone furthest east is 14 hours ahead of UTC; a day more covers clocks that are wrong.
const ahead = 38 * hour;

/** One read of a query: the run, what it counts, and what the consumer has taken. Each kind of stream is built on one. */
export class Session {
  /** What the consumer has taken. */
  readonly ledger: Ledger;
  /** The same as if it had taken every batch delivered. */
  readonly ahead: Ledger;
  readonly meter: Meter;
  readonly options: StreamOptions;
  readonly #run: Run;

  constructor(client: PageClient, options: StreamOptions) {
    const now = options.now ?? Date.now;
    const query = windowQuery(options.filter, client.version);
    const hash = queryHash(query, client.version);
    const from = options.checkpoint == null ? null : checkCheckpoint(options.checkpoint, hash);
    const window = options.window === false ? null : (options.window ?? {});
    const meter = new Meter(now, from);
    const settings: PlanSettings = {
      rows: positive(options.rows ?? 1000, 'rows'),
      slicePages: window === null ? 0 : positive(window.pages ?? 1, 'window.pages'),
      tries: positive(window?.tries ?? 5, 'window.tries'),
      sealedBefore: sealedBefore(window ?? {}, now()),
      horizon: Math.floor((now() + ahead) / second) * second,
      lookahead: lookahead(options.prefetch),
      lower: query.lower,
      upper: query.upper,
      hasExclusiveBound: query.hasExclusiveBound,
    };
    const style = window?.bounds === undefined || window.bounds === 'auto' ? null : window.bounds;
    this.options = options;
    this.meter = meter;
    this.ledger = new Ledger(hash, from);
    this.ahead = new Ledger(hash, from);
    this.#run = new Run(
      client,
      query,
      newPlan(settings, spansToRead(from), { resume: from?.place ?? null, style }),
      {
        onPage: (page) => meter.received(page),
        onTotal: (total) => meter.expect(total),
        onReread: (span, trouble) => meter.reread(span, trouble),
      },
    );
  }

  /** The next records, not yet entered in the ledger; null at the end. */
  async next(): Promise<Batch | null> {
    const outcome = await this.#run.next();
    if (outcome.kind === 'end') return null;
    if (outcome.kind === 'failure') {
      this.close();
      throw errorOf(outcome.failure, outcome.cause);
    }
    const { batch } = outcome;
    this.meter.took(batch);
    this.ahead.enter(batch, 0, 'batch');
    this.ahead.settle(0);
    return batch;
  }

  /** A record of the last batch could not be read; `isLost`: nobody got its bytes either. */
  skip(index: number, isLost: boolean): void {
    this.ledger.skip(index, isLost);
    this.ahead.skip(index, isLost);
    this.meter.skipped(isLost);
  }

  /** Tells the caller how far the stream has come. */
  report(): void {
    this.options.onProgress?.(this.meter.progress());
  }

  /** The verdict of a read that came to its end. Throws when nothing proves that it was complete. */
  conclude(): Verdict {
    if (this.meter.isUnproven && this.options.incomplete !== 'report') {
      const { delivered } = this.meter.verdict(false);
      const slice = { from: null, to: null };
      throw new IncompleteError({ slice, expected: null, got: delivered, trouble: 'no_total', tries: 1 });
    }
    return this.meter.verdict(true);
  }

  /** Ends the requests in flight. */
  close(reason?: unknown): void {
    this.#run.close(reason);
  }

  /** Gives a failure the checkpoint to resume from. */
  placed(error: unknown, checkpoint: Checkpoint): Error {
    if (error instanceof StreamError) error.checkpoint = checkpoint;
    return error instanceof Error ? error : new Error(String(error));
  }
}

function sealedBefore({ sealedBefore: given, settle }: WindowOptions, now: number): number {
  if (given === undefined)
    return Math.floor((now - durationMillis(settle ?? '14h', 'window.settle')) / second) * second;
  const at = parseNaive(given);
  if (Number.isNaN(at))
    throw new RangeError(`window.sealedBefore is ${given}; expected a time as 'YYYY-MM-DD HH:MM:SS'`);
  return at;
}

function lookahead(prefetch: StreamOptions['prefetch']): { pages: number; bytes: number } {
  const { pages = 4, bytes = 64 * 2 ** 20 } =
    typeof prefetch === 'number' ? { pages: prefetch } : (prefetch ?? {});
  return { pages: positive(pages, 'prefetch'), bytes: positive(bytes, 'prefetch.bytes') };
}

function positive(value: number, name: string): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new RangeError(`${name} is ${value}; expected a whole number of at least 1`);
}
