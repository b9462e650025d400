import type { Call, FieldSpec } from '@call-attribution/core';
import type { Clause } from '@call-attribution/query-dsl';
import type { Cell } from '../fields/view.ts';
import type { Incomplete } from '../text/summaries.ts';

/** Which calls a tool is about. Times are naive, as the API writes them. */
export interface Selection {
  /** First moment, or null for the first call. */
  readonly from: string | null;
  /** First moment after the period, or null for the last call. */
  readonly to: string | null;
  /** `website`: without calls through call extensions of ads. */
  readonly calls: CallKind;
  /** What else a filter of the API says: conditions on talk minutes. */
  readonly clauses: readonly Clause[];
  /** A condition on any field. */
  readonly where?: string | undefined;
  /** The mask of one caller. */
  readonly caller?: string | undefined;
  /** The zone that `from`, `to` and groups of time are in, when it is not that of the records. */
  readonly timeZone?: string | undefined;
}

/** Calls from visits of a website, calls through call extensions of ads, or both. */
export type CallKind = 'website' | 'extensions' | 'all';

/** How calls are grouped, and what is measured of each group. */
export interface Question {
  readonly groupBy: readonly string[];
  readonly measures: readonly string[];
  readonly having?: string | undefined;
  readonly order?: string | undefined;
  readonly limit: number;
  readonly topPer?: number | undefined;
  readonly compare?: 'previous' | 'year' | { readonly from: string; readonly to: string } | undefined;
  readonly spend?: Readonly<Record<string, number>> | undefined;
}

/** What a tool call has to know about where its numbers come from. */
export interface Origin {
  /** As of when the numbers hold, as an ISO instant. */
  readonly asOf: string;
  /** Calls through call extensions that the selection leaves out; null when nobody knows. */
  readonly extensionsLeftOut: number | null;
  /** What a reader has to know besides, one sentence each. */
  readonly notes: readonly string[];
  /** Set when not all calls could be read. */
  readonly incomplete?: Incomplete | undefined;
}

/** The answer to a question: a table of safe values. */
export interface Analysis extends Origin {
  /** Groups first, then measures. */
  readonly columns: readonly string[];
  /** Names of the fields whose values are shown. */
  readonly fields: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** The measures over all calls, by column. */
  readonly totals: Readonly<Record<string, Cell>>;
  readonly calls: number;
  readonly groups: number;
  /** The period that the measures are compared with. */
  readonly compared: { readonly from: string; readonly to: string } | null;
}

/** A stretch of a list of calls. */
export interface Found extends Origin {
  readonly calls: readonly Call[];
  readonly total: number;
}

/** How many calls a selection has. */
export interface Counted extends Origin {
  readonly total: number;
}

/** Which part of a list to give, in which order. */
export interface Part {
  readonly order?: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** What is known of one field. */
export interface FieldFacts {
  readonly field: FieldSpec;
  /** Part of the calls without a value, 0 to 1. */
  readonly nulls: number;
  /** The most frequent values, with their number of calls; empty for personal data. */
  readonly top: readonly (readonly [Cell, number])[];
}

/** What is known of the calls of an account. */
export interface Description {
  readonly calls: number;
  readonly first: string | null;
  readonly last: string | null;
  readonly asOf: string;
  readonly fields: readonly FieldFacts[];
  /** Where the shares come from. */
  readonly basis: string;
}

/** What a read may use: its signal, and a place to report progress. */
export interface ReadRun {
  readonly signal: AbortSignal;
  progress(done: number, total: number | null, message: string): void;
}

/** One call. */
export interface FoundOne extends Pick<Origin, 'notes'> {
  readonly call: Call;
  /** As of when it is so; null for the API, which answers at once. */
  readonly asOf: string | null;
}

/** Where the tools read calls: the API, or a local copy. */
export interface CallSource {
  analyze(selection: Selection, question: Question, run: ReadRun): Promise<Analysis>;
  count(selection: Selection, run: ReadRun): Promise<Counted>;
  list(selection: Selection, part: Part, run: ReadRun): Promise<Found>;
  get(sid: string, run: ReadRun): Promise<FoundOne>;
  describe(fields: readonly FieldSpec[], run: ReadRun): Promise<Description>;
}
