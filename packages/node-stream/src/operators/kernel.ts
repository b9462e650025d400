import type { Mark } from '../checkpoint/mark.ts';

/** Where the implementation of an operator puts its output. */
export interface Outlet<O> {
  /** Puts out one item. */
  emit(item: O): void;
  /** Ends the stream with an error found between two inputs. Only for operators declared `eager`. */
  fail(error: Error): void;
  /** Aborts when the stream ends, fails or is destroyed: stop timers and waits. */
  readonly signal: AbortSignal;
  /** The output continues earlier output of the same operator: encoders leave their header out. */
  readonly continued?: boolean;
}

/** The implementation of an operator, for both of its forms. A returned promise delays the next input. */
export interface Kernel<I> {
  /** Takes one item. */
  push(item: I): void | Promise<void>;
  /** A slice has ended. The mark itself is passed on afterwards. */
  mark?(mark: Mark): void | Promise<void>;
  /** The input has ended. */
  end?(): void | Promise<void>;
}

/** Makes the implementation for one run of an operator. */
export type KernelFactory<I, O> = (outlet: Outlet<O>) => Kernel<I>;
