import { Transform, type TransformCallback } from 'node:stream';
import { Mark } from '../checkpoint/mark.ts';
import type { Kernel, KernelFactory, Outlet } from './kernel.ts';
import { overEager, overPlain } from './over.ts';

/** How an operator is built around its kernel. */
export interface OperatorShape {
  /** True when the output is bytes: marks end here. Default false. */
  bytes?: boolean;
  /** True when the kernel also emits between inputs (timers, work that runs on). Default false, which is faster. */
  eager?: boolean;
  /** False when output cannot be taken up again in the middle, as with Parquet. Default true. */
  resumable?: boolean;
}

/**
 * An ordinary Transform for `pipeline` and `pipe`, whose `over(source)` does the same work as an async iterable
 * with no stream in between.
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

  /** Runs the operator over any iterable, with fresh state each time. Leaving the loop ends the source too. */
  over(source: Iterable<I> | AsyncIterable<I>): AsyncGenerator<O, void, undefined>;
  over(source: Iterable<I | Mark> | AsyncIterable<I | Mark>): AsyncGenerator<O | Mark, void, undefined>;
  over(source: Iterable<I | Mark> | AsyncIterable<I | Mark>): AsyncGenerator<O | Mark, void, undefined> {
    if (this.#shape.eager) return overEager(this.#make, source);
    return overPlain(this.#make, source, this.#shape.bytes !== true);
  }

  /** Whether output that was cut off after a mark can be gone on with. */
  get resumable(): boolean {
    return this.#shape.resumable !== false;
  }

  /** Begins a run by hand, with an outlet of your own: sinks encode each of their files with a fresh one. */
  begin(outlet: Outlet<O>): Kernel<I> {
    return this.#make(outlet);
  }

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

  override _read(size: number): void {
    const go = this.#held;
    this.#held = null;
    if (go) go();
    else super._read(size);
  }

  override _flush(callback: TransformCallback): void {
    const kernel = this.#running();
    settle(() => kernel.end?.(), callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#abort.abort();
    callback(error);
  }

  /** Transform only sees what is pushed while an input is worked on; what comes later must hold the next input back too. */
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
