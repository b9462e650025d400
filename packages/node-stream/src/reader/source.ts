import type { Axis } from './axis.ts';
import type { Cursor, PageView } from './page-view.ts';
import type { BoundStyle, Span } from './span.ts';
import type { PlanFailure } from './state.ts';
import type { Failure } from './work.ts';

/** What is asked of a source: one page of a range. */
export interface PageRequest {
  readonly span: Span;
  /** How the upper end of the range is to be asked for. */
  readonly style: BoundStyle;
  readonly rows: number;
  /** The number of the page in the range, from 0. */
  readonly page: number;
  /** What the page before gave to go on with, where the source gives cursors. */
  readonly after: Cursor | null;
  readonly signal: AbortSignal;
}

/** A list as the reader uses it. Calls are one, and each list that somebody describes is another. */
export interface Source<P> {
  readonly axis: Axis;
  /** How positions are written in a checkpoint, and read back. */
  print(position: number): string;
  parse(text: string): number;
  fetch(request: PageRequest): Promise<P>;
  /** What the planning sees of a page. */
  view(page: P): PageView;
  /** Times that a page was asked for before it came. */
  retriesOf(page: P): number;
  /** What the error of a request means for the planning. */
  failureOf(error: unknown): Failure;
  /** The error that ends the read. `cause` is the error of the request that failed. */
  errorOf(failure: PlanFailure, cause: unknown): unknown;
}
