import { once } from 'node:events';
import { addAbortSignal, Readable, type ReadableOptions } from 'node:stream';
import type { RawPage } from '@call-attribution/core';
import { CheckpointError } from '../errors.ts';
import { leavable } from '../leavable.ts';
import { isSavedChain } from '../operators/chain-checkpoint.ts';
import type { Checkpoint } from '../reader/checkpoint.ts';
import type { Batch } from '../reader/run.ts';
import type { Verdict } from '../reader/verdict.ts';
import type { PageClient } from './call-source.ts';
import type { StreamSettings } from './options.ts';
import { factsOf, type ReadFacts } from './read-facts.ts';
import { Session } from './session.ts';
import { timeSliceOf } from './time-slice.ts';

/** What a stream by pages gives of a batch: its page, or the part before an error. */
export interface Walked<P> {
  /** Null when nothing comes before the error. */
  readonly page: P | null;
  /** What of the batch was not taken with the page, in what was measured. */
  readonly left: number;
  /** What ends the read after the page; null when nothing does. */
  readonly error: unknown;
}

/** What the streams over one session have in common: verdict, checkpoint, errors after the records before them, cancel. */
export abstract class SessionStream extends Readable {
  /** Resolves when the stream ends, is left or aborted; rejects with the error that ends it otherwise. */
  readonly verdict: Promise<Verdict>;
  protected session: Session;
  readonly #client: PageClient;
  #outcome: { resolve(verdict: Verdict): void; reject(error: unknown): void };
  #failure: Error | null = null;
  #verdict: Verdict | null = null;
  #isPulling = false;
  /** What is not given of a page that ends before an error. */
  #withheld = 0;
  /** What the read is about, for receipts. */
  readonly facts: ReadFacts;
  /** Where the options say that it begins; with what the operators of a chain keep, if it is one of a chain. */
  readonly startsAt: Checkpoint | null;
  /** Its slices come in order of time. */
  readonly hasTime = true;
  /** The signal that ends it. */
  readonly signal: AbortSignal | undefined;
  #isBegun = false;

  constructor(client: PageClient, options: StreamSettings, readable: ReadableOptions) {
    super({ ...readable, autoDestroy: true });
    this.#client = client;
    this.session = new Session(client, options);
    this.#outcome = { resolve: () => {}, reject: () => {} };
    this.verdict = new Promise((resolve, reject) => {
      this.#outcome = { resolve, reject };
    });
    this.startsAt = options.checkpoint ?? null;
    this.signal = options.signal;
    this.facts = factsOf(client, this.session.query, this.verdict);
    // Without a reader of the verdict, the stream's own error still reports the failure.
    this.verdict.catch(() => {});
    if (options.signal !== undefined) addAbortSignal(options.signal, this);
  }

  /** Where to resume: covers exactly what the consumer has taken so far. */
  checkpoint(): Checkpoint {
    this.#settle();
    return this.session.taken();
  }

  /** Begins at a checkpoint instead of where the options say, before anything was read. */
  protected beginAt(checkpoint: Checkpoint): void {
    this.#isBegun = true;
    this.session.close();
    this.session = new Session(this.#client, { ...this.session.options, checkpoint });
  }

  /** Refuses to leave out what the operators of a chain have kept. */
  protected checkBegin(): void {
    const chain = this.#isBegun ? null : this.startsAt?.chain;
    if (chain == null || (isSavedChain(chain) && chain.of.length === 0)) return;
    throw new CheckpointError(
      'checkpoint_invalid',
      'The checkpoint belongs to a chain of operators, which keep a part of what was read. Read through the same operators: createCallStream(client, { checkpoint }).through(...).',
    );
  }

  /** Pushes what is left of the current batch. False when the consumer wants no more for now. */
  protected abstract feed(): boolean;

  /** What is left of the current batch, in the units that the stream counts. */
  protected abstract get heldBack(): number;

  /** Takes the next batch. */
  protected abstract begin(batch: Batch<RawPage>): void;

  override _read(): void {
    if (this.#isPulling || this.#failure !== null) return;
    try {
      if (!this.feed()) return;
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#isPulling = true;
    this.session.next().then(
      (batch) => {
        this.#isPulling = false;
        if (this.destroyed) return;
        try {
          if (batch === null) {
            this.conclude();
            this.push(null);
            return;
          }
          this.begin(batch);
          this.#settle();
          this._read();
        } catch (error) {
          this.#fail(error);
        }
      },
      (error: unknown) => this.#fail(error),
    );
  }

  /** Errors wait until the records before them have been taken. */
  override read(size?: number): unknown {
    const item: unknown = super.read(size);
    if (this.#failure !== null && this.readableLength === 0)
      process.nextTick(() => this.#fail(this.#failure));
    return item;
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.session.close(error ?? undefined);
    if (error !== null && error.name !== 'AbortError') {
      this.#settle();
      this.#outcome.reject(this.session.placed(error));
      this.session.endTrace({ error });
    } else {
      const verdict = this.#verdict ?? this.session.verdict(false);
      this.#outcome.resolve(verdict);
      // A loop that is left ends with an AbortError too, but nothing has failed.
      const isAborted = error !== null && this.session.options.signal?.aborted === true;
      this.session.endTrace(isAborted ? { error } : { verdict });
    }
    done(error);
  }

  /** Leaves the stream, at the end of an `await using` block. An error of the stream has reached its reader before. */
  override async [Symbol.asyncDispose](): Promise<void> {
    this.on('error', () => {});
    this.destroy();
    if (!this.closed) await once(this, 'close');
  }

  /** Reads by pages instead of by what the stream is made of. */
  protected walk<P>(walked: (batch: Batch<RawPage>) => Walked<P>): AsyncGenerator<P, void, void> {
    // Errors reach the reader through the iterator. Without a listener, the event would also end the process.
    this.on('error', () => {});
    return leavable(this.#walk(walked), () => void this.destroy());
  }

  /** A page that is taken as a whole. */
  protected wholly<P>(page: () => P): Walked<P> {
    this.session.ledger.measure(1, 'page');
    return { page: page(), left: 0, error: null };
  }

  async *#walk<P>(walked: (batch: Batch<RawPage>) => Walked<P>): AsyncGenerator<P, void, void> {
    const { session } = this;
    try {
      for (let batch = await session.next(); batch !== null; batch = await session.next()) {
        const { page, left, error } = walked(batch);
        session.report();
        this.#withheld = left;
        if (page !== null) yield page;
        session.ledger.settle(left);
        if (error !== null) throw error;
        if (batch.isLast) this.announce(batch);
      }
      this.conclude();
    } catch (error) {
      this.destroy(session.placed(error));
      throw error;
    } finally {
      this.destroy();
    }
  }

  /** Announces the verdict. Throws when nothing proves that the read was complete. */
  protected conclude(): void {
    const verdict = this.session.conclude();
    this.#verdict = verdict;
    this.#outcome.resolve(verdict);
    this.emit('verdict', verdict);
  }

  /** Announces that a slice is done. */
  protected announce({ span, count }: Batch): void {
    this.emit('slice', { ...timeSliceOf(span), records: count });
  }

  #settle(): void {
    // With setEncoding, the buffer counts characters, of which there are fewer than bytes: only an empty one is certain.
    if (this.readableEncoding !== null && this.readableLength > 0) return;
    this.session.ledger.settle(this.readableLength + this.heldBack + this.#withheld);
  }

  #fail(error: unknown): void {
    if (this.destroyed) return;
    this.#settle();
    this.#failure = this.session.placed(error);
    if (this.readableLength > 0) return;
    this.destroy(this.#failure);
  }
}
