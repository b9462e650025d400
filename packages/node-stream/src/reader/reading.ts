import { safeCaller } from '@call-attribution/core/tracing';
import { isCapped } from './capacity.ts';
import {
  type Checkpoint,
  checkpointOf,
  newState,
  type ReadState,
  spansToRead,
  stateFrom,
} from './checkpoint.ts';
import { Ledger, type Progress } from './ledger.ts';
import { type Batch, Run, type RunTrace } from './run.ts';
import { spansToCount } from './settled.ts';
import type { Source } from './source.ts';
import type { BoundStyle, Span } from './span.ts';
import { newPlan, type Outlook, type PlannedSpan, type PlanSettings } from './state.ts';
import {
  type CountDifference,
  type Recount,
  type Verdict,
  type VerdictReason,
  verdictOf,
} from './verdict.ts';
import type { ResumePoint } from './work.ts';

/** Where and how a sync begins a read, whose state says what is left to be read. It counts its items itself. */
export interface ReadStart {
  /** What is read, in this order. */
  readonly spans: readonly PlannedSpan[];
  /** Where an earlier run stopped inside the first of them. */
  readonly resume: ResumePoint | null;
  /** What an earlier run found out about the server. */
  readonly known: Pick<Outlook, 'style' | 'capacity'> | null;
  /** Most pages to read. */
  readonly mostPages: number;
  /** Items that earlier runs of the same read stored. */
  readonly done: number;
  /** It goes on where an earlier run was cut. */
  readonly goesOn: boolean;
}

/** What a read is given. */
export interface ReadingOptions {
  /** What ties a checkpoint to the read. */
  readonly hash: string;
  readonly checkpoint?: unknown;
  readonly settings: Omit<PlanSettings, 'countBefore' | 'mostPages'>;
  /** How upper ends are asked for, when that is known. */
  readonly style: BoundStyle | null;
  readonly clock: { now(): number };
  readonly start?: ReadStart | null;
  /** Gives an error the checkpoint to resume from. */
  place(error: unknown, at: Checkpoint): void;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** One read of a list: the run, and the account of it. Streams, readers of lists and syncs stand on it. */
export class Reading<P> {
  readonly ledger: Ledger;
  readonly #source: Source<P>;
  readonly #options: ReadingOptions;
  readonly #run: Run<P>;
  readonly #safely = safeCaller('onProgress');
  /** What to count at the end; null when there is nothing to compare with. */
  readonly #toRecount: Span | null;
  #recount: Recount | VerdictReason | null = null;

  constructor(source: Source<P>, options: ReadingOptions) {
    const { hash, checkpoint, settings, style, clock, start = null } = options;
    const from = checkpoint == null ? null : stateFrom(checkpoint, hash, source);
    // A resumed read counts up to the same position as the first run, which its checkpoint has counted to.
    const countBefore = from?.settled.before ?? settings.sealedBefore;
    const planned = { ...settings, countBefore, mostPages: start?.mostPages };
    const begun = from ?? newState(countBefore, start?.done);
    const known = start?.known ?? null;
    const isSameCapacity =
      known?.capacity.requested === settings.rows &&
      known.capacity.pages === Math.max(1, settings.slicePages);
    this.#source = source;
    this.#options = options;
    this.ledger = new Ledger(clock, begun, settings.cap);
    this.#toRecount = settings.slicePages === 0 || start !== null ? null : toRecount(planned);
    const plan = newPlan(planned, start?.spans ?? spansToRead(begun), {
      resume: start?.resume ?? begun.place,
      style: style ?? known?.style ?? null,
      capacity: isSameCapacity ? known.capacity : null,
    });
    this.#run = new Run(source, plan, {
      onPage: (retries) => this.ledger.received(retries),
      onTotal: (total) => this.ledger.expect(total),
      onReread: () => this.ledger.reread(),
    });
  }

  /** Set before the first items are wanted. */
  set trace(trace: RunTrace | null) {
    this.#run.trace = trace;
  }

  /** The next items; null at the end. */
  async next(): Promise<Batch<P> | null> {
    const outcome = await this.#run.next();
    if (outcome.kind === 'end') {
      await this.#countAgain();
      return null;
    }
    if (outcome.kind === 'failure') {
      this.close();
      throw this.#source.errorOf(outcome.failure, outcome.cause);
    }
    this.ledger.enter(outcome.batch);
    return outcome.batch;
  }

  /** Where to resume: covers what the consumer has taken. */
  taken(): Checkpoint {
    return this.#printed(this.ledger.taken);
  }

  /** Where to resume once all that was read has been taken. */
  read(): Checkpoint {
    return this.#printed(this.ledger.read);
  }

  /** Tells the caller how far the read has come. */
  report(): void {
    const { onProgress } = this.#options;
    if (onProgress) this.#safely(() => onProgress(this.ledger.progress()));
  }

  /** What was proved so far. `isEnd`: the read came to its end by itself. */
  verdict(isEnd: boolean): Verdict {
    return verdictOf(this.ledger, isEnd, this.#recount);
  }

  /** The source's count of a span, with one more try for one that lagged or could not be reached. */
  async count(span: Span, read: number | null): Promise<number | null> {
    let counted: number | null = null;
    for (let i = 0; i < 2 && counted !== (read ?? -1); i += 1) {
      const answer = await this.#run.count(span).catch(() => null);
      this.#run.throwIfClosed();
      counted = answer ?? counted;
    }
    return counted;
  }

  /** What a later read may begin with. */
  get outlook(): Outlook {
    return this.#run.outlook;
  }

  /** Ends the requests in flight. */
  close(reason?: unknown): void {
    this.#run.close(reason);
  }

  /** Gives a failure the checkpoint to resume from. */
  placed(error: unknown): Error {
    this.#options.place(error, this.taken());
    return error instanceof Error ? error : new Error(String(error));
  }

  /** Compares what was read with a new count, where nothing is expected to come or go. */
  async #countAgain(): Promise<void> {
    const range = this.#toRecount;
    const { settled, isUnproven } = this.ledger.read;
    if (range === null || isUnproven) return;
    // A single slice needs no sum: its pages carried the total of the whole read.
    if (this.ledger.counts.slices < 2 && this.#options.checkpoint == null) return;
    const end = (position: number | null) => (position === null ? null : this.#source.print(position));
    const recount = { before: range.to === null ? null : end(settled.before), expected: 0, read: 0 };
    const differences: CountDifference[] = [];
    const { rows, cap } = this.#options.settings;
    for (const { span, read } of spansToCount(settled, range, rows, cap)) {
      const expected = await this.count(span, read);
      if (expected === null) {
        this.#recount = { code: 'recount_failed', count: null };
        return;
      }
      // What is out of reach has a reason of its own, and such a count says nothing.
      if (isCapped({ cap }, expected) && read >= (cap ?? 0)) continue;
      recount.expected += expected;
      recount.read += read;
      if (expected !== read) differences.push({ from: end(span.from), to: end(span.to), expected, read });
    }
    this.#recount = { ...recount, differences };
  }

  #printed(state: ReadState): Checkpoint {
    return checkpointOf(state, this.#options.hash, this.#source);
  }
}

/** What is counted at the end: all items from before a position that lay safely in the past when the first run began. */
function toRecount({ countBefore, lower, upper }: PlanSettings): Span | null {
  if (lower !== null && lower >= countBefore) return null;
  return { from: null, to: upper !== null && upper <= countBefore ? null : countBefore };
}
