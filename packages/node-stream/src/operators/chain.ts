import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { ConfigurationError } from '@call-attribution/core/errors';
import { leavable } from '../leavable.ts';
import { type ChainCheckpoint, chainPosition, saveChain } from './chain-checkpoint.ts';
import type { AnyOperator, Chain, ChainPage, Done, Operator, ReadChainOptions, Sink } from './forms.ts';
import { type ChainSource, isPaged, type ReadProof } from './packets.ts';
import { Run } from './run.ts';
import type { Step } from './step.ts';

class OperatorChain<T> implements Chain<T> {
  readonly #source: ChainSource<unknown>;
  readonly #operators: readonly AnyOperator[];
  #reading: Reading<T> | null = null;

  constructor(source: ChainSource<unknown>, operators: readonly AnyOperator[]) {
    this.#source = source;
    this.#operators = operators;
  }

  get verdict(): Promise<ReadProof> | null {
    return (isPaged(this.#source) ? this.#source.verdict : null) ?? null;
  }

  get facts(): unknown {
    return (isPaged(this.#source) ? this.#source.facts : null) ?? null;
  }

  get unsaved(): string | null {
    const { unsaved } = isPaged(this.#source) ? this.#source : { unsaved: 'its source has no positions' };
    if (unsaved != null) return unsaved;
    return this.#operators.find(({ unsaved }) => unsaved !== null)?.unsaved ?? null;
  }

  through(...operators: readonly AnyOperator[]): Chain<never> {
    return new OperatorChain(this.#source, [...this.#operators, ...operators]);
  }

  pages(options: ReadChainOptions = {}): AsyncGenerator<ChainPage<T>, void, undefined> {
    return this.#open(options.checkpoint ?? null).pages();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined, undefined> {
    return this.#open(null);
  }

  async into<W extends object>(sink: Sink<T, W>): Promise<Done<W>> {
    const written = await sink.write(this);
    const verdict = (await this.verdict) ?? null;
    return { ...written, verdict, proof: verdict?.proof ?? null };
  }

  async toArray(): Promise<T[]> {
    const all: T[] = [];
    for await (const { items } of this.pages()) for (const item of items) all.push(item);
    return all;
  }

  readable(): Readable {
    return Readable.from(this);
  }

  toWeb(): ReadableStream<T> {
    return Readable.toWeb(this.readable(), { strategy: { highWaterMark: 0 } });
  }

  checkpoint(): ChainCheckpoint | null {
    return this.#reading?.checkpoint() ?? null;
  }

  #open(checkpoint: ChainCheckpoint | null): Reading<T> {
    if (this.#reading !== null)
      throw new ConfigurationError(
        'invalid_option',
        'This chain is already being read. Make another one, with a source of its own.',
      );
    const begun = checkpoint ?? (isPaged(this.#source) ? this.#source.startsAt : null) ?? null;
    this.#reading = new Reading<T>(this.#source, this.#operators, begun, this.unsaved === null);
    return this.#reading;
  }
}

/** Nobody waits. A function made where somebody did would keep the items that came while the next ones are read. */
const nobody = (): void => {};

/** One read of a chain, item by item or page by page. */
class Reading<T> implements AsyncIterator<T, undefined, undefined> {
  readonly #run: Run<unknown, T>;
  readonly #operators: readonly AnyOperator[];
  readonly #abort = new AbortController();
  readonly #isSaved: boolean;
  #items: readonly T[] = [];
  #at = 0;
  #isLeft = false;
  /** Ends a wait for items that may never come. */
  #leave: (items: null) => void = nobody;

  constructor(
    source: ChainSource<unknown>,
    operators: readonly AnyOperator[],
    checkpoint: unknown,
    isSaved: boolean,
  ) {
    const { position, states, left } = chainPosition(checkpoint, operators);
    const { signal } = this.#abort;
    const hasTime = isPaged(source) && source.hasTime === true;
    const steps = operators.map(
      (operator, at): Step<unknown, unknown> => operator.begin(states[at] ?? null, { signal, hasTime }),
    );
    if (isPaged(source) && source.signal !== undefined) {
      const given = source.signal;
      if (given.aborted) this.#abort.abort(given.reason);
      else given.addEventListener('abort', () => this.#abort.abort(given.reason), { signal });
    }
    this.#operators = operators;
    this.#isSaved = isSaved;
    this.#run = new Run(source, steps, { position, left });
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return this.#at < this.#items.length && !this.#isLeft ? Promise.resolve(this.#take()) : this.#more();
  }

  /** The loop was left. */
  async return(): Promise<IteratorResult<T, undefined>> {
    this.#isLeft = true;
    await this.#close();
    return { done: true, value: undefined };
  }

  pages(): AsyncGenerator<ChainPage<T>, void, undefined> {
    return leavable(this.#walk(), () => this.#close());
  }

  checkpoint(): ChainCheckpoint | null {
    const state = this.#isSaved ? this.#run.state() : null;
    if (state === null) return null;
    const rest = this.#items.slice(this.#at);
    const left = rest.length > 0 ? [...state.left, { at: this.#operators.length, items: rest }] : state.left;
    return saveChain(this.#run.position, this.#operators, { ...state, left });
  }

  #take(): IteratorResult<T, undefined> {
    const value = this.#items[this.#at] as T;
    this.#at += 1;
    return { done: false, value };
  }

  async #more(): Promise<IteratorResult<T, undefined>> {
    do {
      const items = await this.#pull();
      if (items === null) return { done: true, value: undefined };
      this.#items = items;
      this.#at = 0;
    } while (this.#items.length === 0);
    return this.#take();
  }

  async *#walk(): AsyncGenerator<ChainPage<T>, void, undefined> {
    const checkpoint = () => this.checkpoint();
    try {
      for (let items = await this.#pull(); items !== null; items = await this.#pull())
        yield {
          items,
          get checkpoint() {
            return checkpoint();
          },
        };
    } finally {
      await this.#close();
    }
  }

  async #pull(): Promise<readonly T[] | null> {
    try {
      const items = await this.#next();
      if (items === null) this.#abort.abort();
      return items;
    } catch (error) {
      await this.#close();
      throw this.#placed(error);
    }
  }

  /** What comes out of the run; null as soon as it is left. */
  #next(): Promise<readonly T[] | null> {
    if (this.#isLeft) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.#leave = resolve;
      this.#run.next().then(
        (items) => {
          this.#leave = nobody;
          resolve(items);
        },
        (error: unknown) => {
          this.#leave = nobody;
          reject(error);
        },
      );
    });
  }

  async #close(): Promise<void> {
    this.#leave(null);
    this.#abort.abort();
    await this.#run.close();
  }

  /** Gives a failure the position of the end of the chain, in place of that of the source. */
  #placed(error: unknown): unknown {
    if (error instanceof Error && Object.isExtensible(error)) {
      // What the operators keep may be records of callers, which do not belong where errors are printed.
      const hidden = { enumerable: false, configurable: true, writable: true };
      Object.defineProperty(error, 'checkpoint', { ...hidden, value: this.checkpoint() });
    }
    return error;
  }
}

/** Sends the items of anything that can be iterated, or of a stream of calls, through operators. */
export function through<T, A>(source: ChainSource<T>, a: Operator<T, A>): Chain<A>;
export function through<T, A, B>(source: ChainSource<T>, a: Operator<T, A>, b: Operator<A, B>): Chain<B>;
export function through<T, A, B, C>(
  source: ChainSource<T>,
  a: Operator<T, A>,
  b: Operator<A, B>,
  c: Operator<B, C>,
): Chain<C>;
export function through<T, A, B, C, D>(
  source: ChainSource<T>,
  a: Operator<T, A>,
  b: Operator<A, B>,
  c: Operator<B, C>,
  d: Operator<C, D>,
): Chain<D>;
/** The same for none, or for any number of operators. */
export function through<T>(source: ChainSource<T>): Chain<T>;
export function through(source: ChainSource<unknown>, ...operators: readonly AnyOperator[]): Chain<unknown>;
/**
 * Sends the items of anything that can be iterated, or of a stream of calls, through operators.
 *
 * @example
 * for await (const row of through(calls, filterCalls('talk_minutes:[2 TO *]'), aggregate({ measures: { calls: count() } })))
 *   console.log(row.calls);
 */
export function through(source: ChainSource<unknown>, ...operators: readonly AnyOperator[]): Chain<unknown> {
  if (source instanceof OperatorChain) return source.through(...operators);
  return new OperatorChain(source, operators);
}
