import { ConfigurationError } from '@call-attribution/core/errors';
import type { Position, Span, Verdict } from './verdict.ts';

// What passes from a reader through operators into a sink: whole pages, each with the place to go
// on after it.

/**
 * Where to go on: plain JSON, sealed, so that one with a digit changed is refused. What it holds is
 * the reader's and the operators' business.
 */
export interface Checkpoint {
  /** The form of the checkpoint. */
  readonly version: 1;
  /** What was read: version of the API and filter in one canonical form, or the name of a list. */
  readonly of: string;
  /** What the reader needs: the proved stretches, and the sids of the border second. */
  readonly read: unknown;
  /**
   * What the operators of a chain keep, one entry each, with a name of the chain; null without
   * operators.
   */
  readonly chain: unknown;
  /** A digest of all the rest. */
  readonly seal: string;
}

/** Items that were proved together, and where to go on after them. */
export interface Page<T> {
  /** The items. */
  readonly items: readonly T[];
  /**
   * The stretch of the read that they are; null behind operators, and for lists of any API.
   */
  readonly range: Span | null;
  /** Go on after these items: to be saved with them, or after them. */
  readonly checkpoint: Checkpoint;
}

/** What a read is about, for receipts. */
export interface ReadFacts {
  /** URL of the API, without credentials; null when the client does not tell. */
  readonly address: string | null;
  /** The version of the API. */
  readonly version: 'v2' | 'v3';
  /** The filter, in the language of `q`. */
  readonly filter: string;
  /** Where the range of `date_added` in the filter begins; null when that is open. */
  readonly from: string | null;
  /** Where it ends; null when that is open. */
  readonly to: string | null;
}

/**
 * What a chain reads: a stream of calls, a list, or anything that can be iterated (which cannot be
 * resumed).
 */
export interface Source<T> {
  /** As in its checkpoints; null when it cannot be resumed. */
  readonly of: string | null;
  /**
   * Items are call records of this version, so that names of fields are checked against the field
   * table; null for other items.
   */
  readonly calls: 'v2' | 'v3' | null;
  /** Pages come in order of time and `range.to` says how far it has come. */
  readonly hasTime: boolean;
  /**
   * The checkpoint in its own options, which may hold what the operators of a chain keep: a chain
   * takes that, and passes on the rest.
   */
  readonly startsAt: Checkpoint | null;
  /** What the read is about; null when it is no query of the API. */
  readonly facts: ReadFacts | null;
  /** The signal that ends the read. */
  readonly signal: AbortSignal | null;
  /**
   * Reads from a checkpoint, or from where its own options say. Once. One with a `chain` is refused
   * here.
   */
  pages(from?: Checkpoint | null): AsyncGenerator<Page<T>, void, void>;
  /** What is proved so far, and when `pages()` has ended, of all of it; null where nothing can be. */
  verdict(): Verdict<Position> | null;
}

/** Says what is proved of a read. It is called when the read has ended, and not awaited. */
export interface VerdictMethod<V> {
  /** What is known of the list now. */
  (): V;
  /** It is no promise: `stream.verdict()` does not compile, and is refused. */
  then(notAPromise: 'verdict is a method: stream.verdict()'): never;
}

export function verdictMethod<V>(verdict: () => V): VerdictMethod<V> {
  const refuse = (_: unknown, reject?: (error: Error) => void): void =>
    reject?.(
      new ConfigurationError(
        'invalid_option',
        'verdict is a method: read the stream to its end, then call stream.verdict().',
      ),
    );
  // biome-ignore lint/suspicious/noThenProperty: whoever awaits the method is told that it is one.
  return Object.assign(verdict, { then: refuse }) as VerdictMethod<V>;
}

/** One run of an operator. The methods are called one after the other. */
export interface Stage<I, O> {
  /** Takes the items of a source page, and returns what comes out. */
  page(items: readonly I[], passed: Span | null): readonly O[] | Promise<readonly O[]>;
  /** The input has ended: returns the rest. */
  end?(): readonly O[] | Promise<readonly O[]>;
  /** What it needs to go on after this page: plain JSON that no later item changes. */
  save?(): unknown;
}
