import { Transform, type TransformCallback } from 'node:stream';
import { Mark } from '../checkpoint/mark.ts';
import type { Kernel, KernelFactory, Outlet } from './kernel.ts';
import { overEager, overPlain } from './over.ts';

/** How an operator is built. */
export interface OperatorShape {
  /** The output is bytes, so marks are not passed on. Default false. */
  bytes?: boolean;
  /** It also emits between inputs, after timers or asynchronous work. Default false, which is faster. */
  eager?: boolean;
  /** Output that was cut off at a mark can be continued; false for formats such as Parquet. Default true. */
  resumable?: boolean;
}

/**
 * An ordinary Transform for `pipeline` and `pipe`. Its `over(source)` does the same work as an async iterable, without a
 * stream.
 *
 * @example
 * const longOnes = new Operator<Call, Call>(({ emit }) => ({
 *   push(call) {
 *     if (Number(call.talk_minutes) > 10) emit(call);
 *   },
 * }));
 */
export class Operator<I, O> extends Transform {
  readonly #make: KernelFactory<I, O>;
  readonly #shape: OperatorShape;
  readonly #abort = new AbortController();
  #kernel: Kernel<I> | undefined;
  #held: (() => void) | null = null;

  constructor(make: KernelFactory<I, O>, shape: OperatorShape = {}) {
    super({ writableObjectMode: true, readableObjectMode: shape.bytes !== true });
    this.#make = make;
    this.#shape = shape;
  }

  /** Runs the operator over any iterable, with new state each time. Leaving the loop ends the source too. */
  over(source: Iterable<I> | AsyncIterable<I>): AsyncGenerator<O, void, undefined>;
  /** The same over a source with marks, which are passed on. */
  over(source: Iterable<I | Mark> | AsyncIterable<I | Mark>): AsyncGenerator<O | Mark, void, undefined>;
  over(source: Iterable<I | Mark> | AsyncIterable<I | Mark>): AsyncGenerator<O | Mark, void, undefined> {
    if (this.#shape.eager) return overEager(this.#make, source);
    return overPlain(this.#make, source, this.#shape.bytes !== true);
  }

  /** Whether output that was cut off at a mark can be continued. */
  get resumable(): boolean {
    return this.#shape.resumable !== false;
  }

  /** Begins a run with an outlet of your own, as sinks do for each of their files. */
  begin(outlet: Outlet<O>): Kernel<I> {
    return this.#make(outlet);
  }

  /** @internal */
  override _transform(item: I | Mark, _encoding: string, callback: TransformCallback): void {
    const kernel = this.#running();
    if (!(item instanceof Mark))
      settle(() => kernel.push(item), this.#shape.eager ? this.#paced(callback) : callback);
    else if (this.#shape.bytes) settle(() => kernel.mark?.(item), callback);
    else
      settle(
        () => kernel.mark?.(item),
        (error) => (error ? callback(error) : callback(null, item)),
      );
  }

  /** @internal */
  override _read(size: number): void {
    const go = this.#held;
    this.#held = null;
    if (go) go();
    else super._read(size);
  }

  /** @internal */
  override _flush(callback: TransformCallback): void {
    const kernel = this.#running();
    settle(() => kernel.end?.(), callback);
  }

  /** @internal */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#abort.abort();
    callback(error);
  }

  /** Transform only sees output pushed while an input is handled; later output must delay the next input as well. */
  #paced(callback: TransformCallback): TransformCallback {
    return (error) => {
      if (!error && this.readableLength >= this.readableHighWaterMark) this.#held = callback;
      else callback(error);
    };
  }

  #running(): Kernel<I> {
    this.#kernel ??= this.#make({
      emit: (item) => {
        if (!this.destroyed) this.push(item);
      },
      fail: (error) => this.destroy(error),
      signal: this.#abort.signal,
    });
    return this.#kernel;
  }
}

function settle(work: () => void | Promise<void>, done: (error?: Error | null) => void): void {
  let wait: void | Promise<void>;
  try {
    wait = work();
  } catch (error) {
    done(error as Error);
    return;
  }
  if (wait === undefined) done();
  else wait.then(() => done(), done);
}
