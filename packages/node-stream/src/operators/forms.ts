import type { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { ChainCheckpoint } from './chain-checkpoint.ts';
import type { ChainSource, ReadProof } from './packets.ts';
import type { Step } from './step.ts';

/** An operator of any kind. */
// biome-ignore lint/suspicious/noExplicitAny: the types of neighbors are checked where the chain is built.
export type AnyOperator = Operator<any, any>;

/** How the rows that an encoder writes are recognized again, for the receipt of a file. */
export interface RowForm<I> {
  /** The format of the file. */
  readonly format: 'ndjson' | 'json' | 'csv' | 'parquet';
  /** The columns, in order; null where each record has its own fields. */
  readonly fields: readonly string[] | null;
  /** How lines of CSV are cut into cells, and whether the first one names the columns. */
  readonly csv?: { readonly delimiter: string; readonly header: boolean };
  /** What is written of an item, in one form. */
  text(item: I): string;
}

/** What a step is begun with besides its state. */
export interface StepContext {
  /** Aborts when the chain is left or fails: stop timers and waits. */
  readonly signal: AbortSignal;
  /** The source says how far time has come, so that items need not be asked. */
  readonly hasTime: boolean;
}

/** A function over iterables, which works as it is in `pipeline`; and what `through` needs to run, save and resume it. */
export interface Operator<I, O> {
  /** The items of a source, through this operator. */
  (source: ChainSource<I>): Chain<O>;
  /** Its name, for errors and checkpoints. */
  readonly kind: string;
  /** What decides about its output. */
  readonly settings: unknown;
  /** Why a read through it cannot be resumed; null when it can. */
  readonly unsaved: string | null;
  /** What a receipt says of the rows; null for what does not encode records. */
  readonly rows: RowForm<I> | null;
  /** Begins a run: with what an earlier one has saved, or with null. */
  begin(state: unknown, context: StepContext): Step<I, O>;
}

/** Items that came out together. */
export interface ChainPage<T> {
  /** The items. */
  readonly items: readonly T[];
  /**
   * Where to go on after them, with what the operators keep. Ask before the next page is taken. Null when the chain cannot be saved,
   * and after its end when an operator kept something.
   */
  readonly checkpoint: ChainCheckpoint | null;
}

/** How a chain is read. */
export interface ReadChainOptions {
  /** Where an earlier read of the same chain stopped. */
  readonly checkpoint?: ChainCheckpoint | null | undefined;
}

/** What an `into` returns: what the sink says, and what is proved of the read. */
export type Done<W> = W & {
  /** What was proved of the read; null for a source that proves nothing. */
  readonly proof: ReadProof['proof'] | null;
  /** The same, with the reasons. */
  readonly verdict: ReadProof | null;
};

/** What can be sent through operators. */
export interface Through<T> {
  /** Sends the items through operators, one after the other. */
  through<A>(a: Operator<T, A>): Chain<A>;
  /** The same with two operators. */
  through<A, B>(a: Operator<T, A>, b: Operator<A, B>): Chain<B>;
  /** The same with three operators. */
  through<A, B, C>(a: Operator<T, A>, b: Operator<A, B>, c: Operator<B, C>): Chain<C>;
  /** The same with four operators. */
  through<A, B, C, D>(a: Operator<T, A>, b: Operator<A, B>, c: Operator<B, C>, d: Operator<C, D>): Chain<D>;
  /** The same with any number of operators, whose types are not followed from one to the next. */
  through(...operators: readonly AnyOperator[]): Chain<unknown>;
}

/**
 * A source and the operators that its items go through. Nothing is read before somebody reads the chain, and no more than is asked for.
 * It can be read once.
 */
export interface Chain<T> extends AsyncIterable<T>, Through<T> {
  /** The items, one by one. Leaving the loop ends the source. */
  [Symbol.asyncIterator](): AsyncIterator<T, undefined, undefined>;
  /** The items page by page, each with the position after it. */
  pages(options?: ReadChainOptions): AsyncGenerator<ChainPage<T>, void, undefined>;
  /** Reads everything into a sink, from where an earlier run into it stopped. */
  into<W extends object>(sink: Sink<T, W>): Promise<Done<W>>;
  /** All items, in memory. */
  toArray(): Promise<T[]>;
  /** The items as a Readable. It reads a few ahead: `checkpoint()` covers those, too. */
  readable(): Readable;
  /** The items as a web stream. */
  toWeb(): ReadableStream<T>;
  /**
   * Where to go on after the items that were taken one by one, with what the operators keep: records of callers may be in it. Null
   * when the chain cannot be saved.
   */
  checkpoint(): ChainCheckpoint | null;
  /** What is proved of the read, when it has ended; null for a source that proves nothing. */
  readonly verdict: Promise<ReadProof> | null;
  /** What the source says of the read, for receipts. */
  readonly facts: unknown;
  /** Why an interrupted read cannot go on from a checkpoint; null when it can. */
  readonly unsaved: string | null;
}

/** The end of a read: a function over iterables, which works as it is as the last step of `pipeline`; and what `into` needs. */
export interface Sink<T, W extends object> {
  /** Writes all items of a source. */
  (source: ChainSource<T>): Promise<W>;
  /** Reads a chain, from where an earlier run into this sink stopped. */
  write(chain: Chain<T>): Promise<W>;
}
