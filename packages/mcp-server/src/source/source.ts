import type { FieldSpec } from '@call-attribution/core';
import type { Answer, CallSelection, Question, QuestionField } from '@call-attribution/questions';
import type { Cell } from '../fields/view.ts';
import type { MaskedCall } from '../privacy/mask-record.ts';
import type { Unfinished } from '../text/summaries.ts';

/** Where an answer comes from, and what to say about it. */
export interface Origin {
  /** As of when it is so, as an ISO instant. */
  readonly asOf: string;
  readonly notes: readonly string[];
  /** Not all calls were read. */
  readonly unfinished?: Unfinished | undefined;
}

/** How many calls a selection has. */
export interface Counted extends Origin {
  readonly total: number;
  /** How many calls through call extensions are left out; null when nobody counted them. */
  readonly extensionsLeftOut: number | null;
}

/** The answer to a question. Of an unfinished one it is about the calls that were read. */
export interface Analysis extends Origin {
  readonly answer: Answer;
}

/** What a call of a list is sorted by: where a list goes on, far from its beginning. */
export type ListKey = readonly (string | number | boolean | null)[];

/** Which part of a list to give, in which order. */
export interface Part {
  readonly order?: string | undefined;
  readonly offset: number;
  readonly limit: number;
  /** The key of the call before: with it, `offset` is not used. */
  readonly after?: ListKey | undefined;
}

/** A call, and the account that it belongs to. */
export interface Listed {
  readonly account: string;
  readonly call: MaskedCall;
}

/** A stretch of a list of calls. */
export interface Found extends Origin {
  readonly calls: readonly Listed[];
  /** Number of the first one in the whole list, from 1. */
  readonly first: number;
  /** How many calls the list has; null when the server does not say. */
  readonly total: number | null;
  readonly extensionsLeftOut: number | null;
  /** Gives the key of one of these calls, for `after`; left out where the next part is found by its offset. */
  readonly keyAt?: ((index: number) => ListKey | undefined) | undefined;
}

/** What is known of one field. */
export interface FieldFacts {
  readonly name: string;
  /** Part of the calls without a value, 0 to 1; null when that takes all calls of a caller. */
  readonly nulls: number | null;
  /** The most frequent values, with their number of calls; empty for personal data. */
  readonly top: readonly (readonly [Cell, number])[];
}

/** What is known of the calls of the accounts. */
export interface Description extends Origin {
  readonly calls: number;
  readonly first: string | null;
  readonly last: string | null;
  readonly fields: readonly FieldFacts[];
  /** Where the shares come from. */
  readonly basis: string;
}

/** What a read may use: its signal, a place to report progress, and what an earlier read of the same has saved. */
export interface ReadRun {
  readonly signal: AbortSignal;
  /** When its tool call began, in milliseconds since 1970: all reads of a call share the time that it may take. */
  readonly began: number;
  progress(done: number, total: number | null, message: string): void;
  readonly saved?: unknown;
}

/** One call. */
export interface FoundOne extends Listed, Pick<Origin, 'notes'> {
  /** As of when it is so; null for the API, which answers at once. */
  readonly asOf: string | null;
}

/** The last call before a period, and the first one after it; null where there is none. */
export interface Around extends Pick<Origin, 'unfinished'> {
  readonly before: string | null;
  readonly after: string | null;
}

/** Where the tools read calls, of one or more accounts: the API, or a local copy. Nothing in them is personal. */
export interface CallSource {
  /** Names of the accounts. */
  readonly accounts: readonly string[];
  analyze(question: Question, run: ReadRun): Promise<Analysis>;
  count(selection: CallSelection, run: ReadRun): Promise<Counted>;
  list(selection: CallSelection, part: Part, run: ReadRun): Promise<Found>;
  /** Null when no account has the call. */
  get(sid: string, run: ReadRun): Promise<FoundOne | null>;
  /** Describes fields of calls, then those that follow from them. */
  describe(
    fields: readonly FieldSpec[],
    derived: readonly QuestionField[],
    run: ReadRun,
  ): Promise<Description>;
  around(period: { readonly from: string | null; readonly to: string | null }, run: ReadRun): Promise<Around>;
}
