import {
  CallsError,
  type CodeTable,
  codeTable,
  type ErrorCode,
  type ErrorDetails,
  type ErrorWords,
  nameErrors,
} from '@call-attribution/core/errors';
import type { Checkpoint } from '../reader/checkpoint.ts';
import type { Trouble } from '../reader/judge.ts';
import type { PlanFailure } from '../reader/state.ts';
import { describeSlice, type TimeSlice, timeSliceOf } from './time-slice.ts';

/** Where in a read something happened. */
export interface StreamPosition {
  /** The slice that was read. */
  readonly slice: TimeSlice;
  /** Page within the slice, from 0. */
  readonly page: number;
}

const streamErrors = codeTable({
  data: {
    range_ignored:
      'The server sends calls from outside the requested range: it does not filter by date_added. Only a query that fits in one page can be read from it.',
  },
  bug: {
    read_failed: 'A page could not be read for a reason that has no code. The `cause` is the error.',
  },
});

/** Codes of `StreamError`, in addition to those of a failed request, which are those of the client. */
export type StreamErrorCode = keyof typeof streamErrors;

/** What a `StreamError` knows. */
export interface StreamErrorDetails extends StreamPosition, ErrorDetails {}

/** A read ended early. The error names the slice and page, and carries the checkpoint to resume from. */
export class StreamError<Code extends string = StreamErrorCode | ErrorCode> extends CallsError<Code> {
  static override readonly codes: CodeTable = streamErrors;
  /** The slice that was read. */
  readonly slice: TimeSlice;
  /** Page within the slice, from 0. */
  readonly page: number;
  /** Covers everything that was delivered before; pass it as `checkpoint` to resume. */
  checkpoint: Checkpoint | null = null;

  static {
    nameErrors(StreamError, 'StreamError');
  }

  constructor(code: Code, words: string | ErrorWords, { slice, page, ...details }: StreamErrorDetails) {
    super(code, words, details);
    this.slice = slice;
    this.page = page;
  }

  /** Adds the place to an error of the client; errors that have one already and aborts stay as they are. */
  static from(error: unknown, place: StreamPosition): unknown {
    if (error instanceof StreamError || !(error instanceof Error) || error.name === 'AbortError')
      return error;
    const where = `${describeSlice(place.slice)}, page ${place.page}`;
    if (!CallsError.is(error))
      return new StreamError('read_failed', `${where}: ${error.message}`, { ...place, cause: error });
    const { code, summary, message: _, name: __, stack: ___, ...details } = error;
    return new StreamError(code as ErrorCode, `${where}: ${summary}`, { ...details, ...place, cause: error });
  }
}

const incompleteErrors = codeTable({
  data: {
    incomplete:
      'The pages of a slice did not agree in any try. Resume from the checkpoint later, with smaller slices or a longer `settle`.',
  },
});

/** Codes of `IncompleteError`. */
export type IncompleteErrorCode = keyof typeof incompleteErrors;

/** A slice could not be read completely: its pages did not agree in any try. */
export class IncompleteError extends StreamError<IncompleteErrorCode> {
  static override readonly codes: CodeTable = incompleteErrors;
  /** Records of the slice by its total; null when the server gave none. */
  readonly expected: number | null;
  /** Distinct records that the last try received. */
  readonly got: number;

  static {
    nameErrors(IncompleteError, 'IncompleteError');
  }

  constructor(facts: {
    slice: TimeSlice;
    expected: number | null;
    got: number;
    trouble: Trouble | 'no_total';
    tries: number;
  }) {
    const { slice, expected, got, trouble, tries } = facts;
    super(
      'incomplete',
      `${describeSlice(slice)} could not be read completely in ${tries} ${tries === 1 ? 'try' : 'tries'}: ` +
        `expected ${expected ?? 'a total'}, got ${got} in the last one (${reasons[trouble]}).`,
      { slice, page: 0, isRetryable: trouble !== 'no_total' },
    );
    this.expected = expected;
    this.got = got;
  }
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `StreamError` of node-stream. */
    StreamError: StreamError;
    /** See `IncompleteError` of node-stream. */
    IncompleteError: IncompleteError;
  }
}

const reasons: Readonly<Record<Trouble | 'no_total', string>> = {
  wrong_page: 'a page was not the one requested',
  moved_total: 'the total changed between pages',
  short_page: 'a page held fewer records than its place in the total says',
  long_page: 'a page held more records than its place in the total says',
  repeated_id: 'a sid appeared twice',
  changed_since_checkpoint: 'the slice changed since the checkpoint',
  no_total: 'the server gave no total, so nothing proves that these are all',
};

/** The error for a failure of the planning. `cause` is the error of the request that failed. */
export function errorOf(failure: PlanFailure, cause: unknown): unknown {
  const slice = timeSliceOf(failure.span);
  switch (failure.kind) {
    case 'request':
      return StreamError.from(cause, { slice, page: failure.index });
    case 'incomplete':
      return new IncompleteError({ ...failure, slice });
    case 'ranges_ignored':
      return new StreamError(
        'range_ignored',
        `The server returned calls from outside the requested range, ${describeSlice(slice)}: it does not filter by date_added.`,
        { slice, page: 0, hint: 'Only a query that fits in one page can be read from this server.' },
      );
  }
}
