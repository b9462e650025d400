import { formatNaive, hour, parseNaive, second } from '@call-attribution/core/time';
import { safeCaller } from '@call-attribution/core/tracing';
import { type Checkpoint, checkCheckpoint, queryHash, spansToRead } from '../checkpoint/checkpoint.ts';
import { type Span, spanOf, type TimeSlice, timeSliceOf } from '../query/time-slice.ts';
import { type WindowQuery, windowQuery } from '../query/window-query.ts';
import { type Batch, type PageClient, Run } from '../slicing/run.ts';
import { newPlan, type Outlook, type PlannedSpan, type PlanSettings } from '../slicing/state.ts';
import type { ResumePoint } from '../slicing/work.ts';
import { errorOf, IncompleteError, StreamError } from './errors.ts';
import { Ledger } from './ledger.ts';
import { type StreamSettings, type WindowSettings, windowDefaults } from './options.ts';
import { Meter } from './progress.ts';
import { ReadTrace } from './read-trace.ts';
import { spansToCount } from './settled.ts';
import type { CountDifference, Recount, Verdict, VerdictReason } from './verdict.ts';

// The time zone furthest east is 14 hours ahead of UTC; a day more covers clocks that are wrong.
const ahead = 38 * hour;

/** Where and how a sync begins a read, whose state says what is left to be read. It counts its calls itself. */
export interface ReadStart {
  /** What is read, in this order. */
  readonly spans: readonly PlannedSpan[];
  /** Where an earlier run stopped inside the first of them. */
  readonly resume: ResumePoint | null;
  /** What an earlier run found out about the server. */
  readonly known: Pick<Outlook, 'style' | 'capacity'> | null;
  /** Most pages to read. */
  readonly mostPages: number;
  /** Calls that earlier runs of the same read stored. */
  readonly done: number;
  /** It goes on where an earlier run was cut. */
  readonly goesOn: boolean;
}

/** One read of a query: the run, what it counts, and what the consumer has taken. Each kind of stream is built on one. */
export class Session {
  /** What the consumer has taken. */
  readonly ledger: Ledger;
  /** The same as if it had taken every batch delivered. */
  readonly ahead: Ledger;
  readonly meter: Meter;
  readonly options: StreamSettings;
  /** What it is about, for marks. */
  readonly query: WindowQuery;
  /** Records before this naive time are settled: no more of them are expected to come or go. */
  readonly sealedBefore: string;
  readonly #client: PageClient;
  readonly #run: Run;
  readonly #safely = safeCaller('onProgress');
  /** What to count at the end; null when there is nothing to compare with. */
  readonly #toRecount: Span | null;
  #recount: Recount | VerdictReason | null = null;
  /** Undefined before the first records are wanted; null when nobody listens. */
  #trace: ReadTrace | null | undefined;

  constructor(client: PageClient, options: StreamSettings, start: ReadStart | null = null) {
    const { clock, rows, window, prefetch } = options;
    const query = windowQuery(options.filter, client.version);
    const hash = queryHash(query, client.version);
    const from = options.checkpoint == null ? null : checkCheckpoint(options.checkpoint, hash);
    const meter = new Meter(clock, from, start?.done);
    const sealed = sealedBefore(window, clock.now());
    // A resumed read counts up to the same time as the first run, which its checkpoint has counted to.
    const countBefore = parseNaive(from?.settled.before ?? formatNaive(sealed));
    const settings: PlanSettings = {
      rows,
      slicePages: window === false ? 0 : window.pages,
      tries: (window || windowDefaults).tries,
      sealedBefore: sealed,
      countBefore,
      horizon: Math.floor((clock.now() + ahead) / second) * second,
      lookahead: { ...prefetch, isCareful: start?.goesOn === true },
      lower: query.lower,
      upper: query.upper,
      hasExclusiveBound: query.hasExclusiveBound,
      keepsFirst: options.onChange === 'keep',
      mostPages: start?.mostPages,
    };
    const asked = window === false || window.bounds === 'auto' ? null : window.bounds;
    const known = start?.known ?? null;
    const isSameCapacity =
      known?.capacity.requested === rows && known.capacity.pages === Math.max(1, settings.slicePages);
    this.#client = client;
    this.query = query;
    this.options = options;
    this.meter = meter;
    const before = formatNaive(countBefore);
    this.ledger = new Ledger(hash, from, before);
    this.ahead = new Ledger(hash, from, before);
    this.sealedBefore = formatNaive(sealed);
    this.#toRecount = window === false || start !== null ? null : toRecount(settings);
    this.#run = new Run(
      client,
      query,
      newPlan(settings, start?.spans ?? spansToRead(from), {
        resume: start?.resume ?? from?.place ?? null,
        style: asked ?? known?.style ?? null,
        capacity: isSameCapacity ? known.capacity : null,
      }),
      {
        onPage: (page) => meter.received(page),
        onTotal: (total) => {
          const expected = meter.expect(total);
          this.ledger.expect(expected);
          this.ahead.expect(expected);
        },
        onReread: () => meter.reread(),
      },
      options,
    );
  }

  /** The next records, not yet entered in the ledger; null at the end. */
  async next(): Promise<Batch | null> {
    if (this.#trace === undefined) {
      this.#trace = ReadTrace.begin(this.#client, this.options.checkpoint != null);
      this.#run.trace = this.#trace;
    }
    const outcome = await this.#run.next();
    if (outcome.kind === 'end') {
      await this.#countAgain();
      return null;
    }
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
    this.meter.skipped();
  }

  /** Tells the caller how far the stream has come. */
  report(): void {
    const { onProgress } = this.options;
    if (onProgress) this.#safely(() => onProgress(this.meter.progress()));
  }

  /** The verdict of a read that came to its end. Throws when the server gave no totals, unless that is to be reported. */
  conclude(): Verdict {
    const verdict = this.verdict(true);
    if (this.options.incomplete === 'report') return verdict;
    const slice = { from: null, to: null };
    if (this.meter.isUnproven) {
      const { delivered: got } = verdict;
      throw new IncompleteError({ slice, expected: null, got, trouble: 'no_total', tries: 1 });
    }
    return verdict;
  }

  /** What was proved so far. `isEnd`: the read came to its end by itself. */
  verdict(isEnd: boolean): Verdict {
    return this.meter.verdict(isEnd, this.ahead.checkpoint(), this.#recount);
  }

  /** Compares what was read with a new count, where nothing is expected to come or go. */
  async #countAgain(): Promise<void> {
    const range = this.#toRecount;
    const { settled, unproven } = this.ahead.checkpoint();
    if (range === null || unproven) return;
    // A single slice needs no sum: its pages carried the total of the whole query.
    if (this.meter.slices < 2 && this.options.checkpoint == null) return;
    const recount = { before: range.to === null ? null : settled.before, expected: 0, read: 0 };
    const differences: CountDifference[] = [];
    for (const { span, read } of spansToCount(settled, range, this.options.rows)) {
      const expected = await this.#countTwice(span, read);
      if (expected === null) {
        this.#recount = { code: 'recount_failed', count: null };
        return;
      }
      recount.expected += expected;
      recount.read += read;
      if (expected !== read) differences.push({ ...timeSliceOf(span), expected, read });
    }
    this.#recount = { ...recount, differences };
  }

  /** The server's count of a span, with one more try for a server that lagged or could not be reached. */
  async #countTwice(span: Span, read: number): Promise<number | null> {
    let counted: number | null = null;
    for (let i = 0; i < 2 && counted !== read; i += 1) {
      const answer = await this.#run.count(span).catch(() => null);
      this.#run.throwIfClosed();
      counted = answer ?? counted;
    }
    return counted;
  }

  /** The server's count of a range; null when it gives none. Counted twice unless it is as many as were read. */
  count(range: TimeSlice, read: number | null): Promise<number | null> {
    return this.#countTwice(spanOf(range), read ?? -1);
  }

  /** What a later read may begin with. */
  get outlook(): Outlook {
    return this.#run.outlook;
  }

  /** Publishes how the stream ended. */
  endTrace(outcome: { readonly error: unknown } | { readonly verdict: Verdict }): void {
    this.#trace?.end(outcome);
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

/** What is counted at the end: all records from before a time that lay safely in the past when the first run began. */
function toRecount({ countBefore, lower, upper }: PlanSettings): Span | null {
  if (lower !== null && lower >= countBefore) return null;
  return { from: null, to: upper !== null && upper <= countBefore ? null : countBefore };
}

function sealedBefore(window: WindowSettings | false, now: number): number {
  const { sealedBefore: given, settle } = window || windowDefaults;
  return given === undefined ? Math.floor((now - settle) / second) * second : parseNaive(given);
}
