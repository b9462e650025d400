import type { Source, Stage } from '../page.ts';
import type { Position, Verdict } from '../verdict.ts';
import type { Input } from './sources.ts';

/** An operator of any kind. */
// biome-ignore lint/suspicious/noExplicitAny: the types of neighbors are checked where the chain is built.
export type AnyOperator = Operator<any, any>;

/** How the rows that an encoder writes are recognized again, for the receipt of a file. */
export interface RowForm<I> {
  /** The format of the file. */
  readonly format: 'ndjson' | 'json' | 'csv' | 'parquet';
  /** The columns, in order; null where each record has its own fields. */
  readonly fields: readonly string[] | null;
  /** What is written of an item, in one form. Throws for one that the format has no form for. */
  text(item: I): string;
}

/** How an operator is made. */
export interface OperatorShape<I, O> {
  /** Its name, for errors and checkpoints. */
  readonly name: string;
  /**
   * What decides about its output, as plain JSON: a state is not resumed with other settings.
   * Functions are not compared.
   */
  readonly settings?: unknown;
  /**
   * Fields that it reads of each item. One that the items do not have is refused before it is read.
   */
  readonly fields?: readonly string[];
  /**
   * What goes in comes out with the same page: the `same` item or none (filters), or a `new` one
   * with the same time. Windows behind it then close as time passes. Behind `other` ones they hold
   * everything and close at the end.
   */
  readonly gives: 'same' | 'new' | 'other';
  /** Why a read through it cannot be resumed, for errors. Default: it can. */
  readonly unsaved?: string | null;
  /** What a receipt says of the rows. Only encoders of records have it. */
  readonly rows?: RowForm<I>;
  /**
   * Begins a run: with what an earlier one has saved, or with null. The signal aborts when the
   * chain is left or fails.
   */
  begin(state: unknown, signal: AbortSignal): Stage<I, O>;
}

/**
 * A function over iterables, which works as it is in `pipeline`; and what `through` needs to run,
 * save and resume it.
 */
export interface Operator<I, O> extends Omit<OperatorShape<I, O>, 'name'> {
  /** The items of a source, through this operator. */
  (source: Input<I>): Chain<O>;
  /** Its name, for errors and checkpoints. */
  readonly kind: string;
}

/** Sends items through operators. */
export interface Through<T> {
  /** Sends the items through operators, one after the other. */
  through<A>(a: Operator<T, A>): Chain<A>;
  /** The same with two operators. */
  through<A, B>(a: Operator<T, A>, b: Operator<A, B>): Chain<B>;
  /** The same with three operators. */
  through<A, B, C>(a: Operator<T, A>, b: Operator<A, B>, c: Operator<B, C>): Chain<C>;
  /** The same with any number of operators, whose types are not followed from one to the next. */
  through(...operators: readonly AnyOperator[]): Chain<unknown>;
}

/**
 * The end of a read: a function that reads a source from where an earlier run into it stopped. It
 * is also the last step of a `pipeline`.
 */
export type Sink<T, W extends object> = (source: Input<T>) => Promise<W>;

/** What `into` returns: what the sink says, and what is proved of the read. */
export type Done<W> = W & {
  /** What was proved of the read; null for a source that proves nothing. */
  readonly proof: Verdict['proof'] | null;
  /** The same, with what is missing. */
  readonly verdict: Verdict<Position> | null;
};

/**
 * A source and the operators that its items go through. Nothing is read before somebody reads the
 * chain, and no more than is asked for. It can be read once: by `pages()`, item by item, or into a
 * sink.
 */
export interface Chain<T> extends AsyncIterable<T>, Source<T>, Through<T> {
  /** Reads everything into a sink, from where an earlier run into it stopped. */
  into<W extends object>(sink: Sink<T, W>): Promise<Done<W>>;
  /** All items, in memory. */
  toArray(): Promise<T[]>;
  /** Why an interrupted read cannot go on from a checkpoint; null when it can. */
  readonly unsaved: string | null;
}
