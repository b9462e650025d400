import type { Mark } from '../checkpoint/mark.ts';

/** Where a kernel puts what it makes. */
export interface Outlet<O> {
  emit(item: O): void;
  /** Ends the stream with an error found between two inputs; only for kernels declared `eager`. */
  fail(error: Error): void;
  /** Aborts when the stream ends, fails or is destroyed: free timers and stop waiting. */
  readonly signal: AbortSignal;
  /** The output goes on after earlier output of the same kernel: encoders leave their beginning out. */
  readonly continued?: boolean;
}

/** The one implementation of an operator, behind both of its forms. A returned promise holds the next input back. */
export interface Kernel<I> {
  push(item: I): void | Promise<void>;
  /** A slice has ended; the mark itself is passed on afterwards. */
  mark?(mark: Mark): void | Promise<void>;
  end?(): void | Promise<void>;
}

/** Makes the state of one run of an operator. */
export type KernelFactory<I, O> = (outlet: Outlet<O>) => Kernel<I>;
