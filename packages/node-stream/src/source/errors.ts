import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { describeSlice, type TimeSlice, timeSliceOf } from '../query/time-slice.ts';
import type { Trouble } from '../slicing/judge.ts';
import type { PlanFailure } from '../slicing/state.ts';

/** Where in a read something happened. */
export interface StreamPlace {
  /** The slice that was read. */
  readonly slice: TimeSlice;
  /** Page within the slice, from 0. */
  readonly page: number;
}

/** A read ended early. The error names the slice and page, and carries the checkpoint to resume from. */
export class StreamError extends Error {
  /** What went wrong; for a failed request, the code of the client's error. */
  readonly code: string;
  /** Whether the same read may succeed later. */
  readonly isRetryable: boolean;
  /** The slice that was read. */
  readonly slice: TimeSlice;
  /** Page within the slice, from 0. */
  readonly page: number;
  /** What to do about it, where that is known. */
  readonly hint?: string;
  /** Covers everything that was delivered before; pass it as `checkpoint` to resume. */
  checkpoint: Checkpoint | null = null;

  constructor(
    code: string,
    message: string,
    details: StreamPlace & { isRetryable?: boolean; hint?: string; cause?: unknown },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'StreamError';
    this.code = code;
    this.isRetryable = details.isRetryable ?? false;
    this.slice = details.slice;
    this.page = details.page;
    if (details.hint !== undefined) this.hint = details.hint;
  }

  /** Adds the place to an error of the client; errors that have one already and aborts stay as they are. */
  static from(error: unknown, place: StreamPlace): unknown {
    if (error instanceof StreamError || !(error instanceof Error) || error.name === 'AbortError')
      return error;
    const { code, isRetryable, hint } = error as { code?: unknown; isRetryable?: unknown; hint?: unknown };
    return new StreamError(
      typeof code === 'string' ? code : 'read_failed',
      `${describeSlice(place.slice)}, page ${place.page}: ${error.message}`,
      {
        ...place,
        isRetryable: isRetryable === true,
        ...(typeof hint === 'string' ? { hint } : {}),
        cause: error,
      },
    );
  }
}

/** A slice could not be read completely: its pages did not agree in any try. */
export class IncompleteError extends StreamError {
  /** Records of the slice by its total; null when the server gave none. */
  readonly expected: number | null;
  /** Distinct records that the last try received. */
  readonly got: number;

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
    this.name = 'IncompleteError';
    this.expected = expected;
    this.got = got;
  }
}

const reasons: Readonly<Record<Trouble | 'no_total', string>> = {
  wrong_page: 'a page was not the one requested',
  moved_total: 'the total changed between pages',
  short_page: 'a page held fewer records than its place in the total says',
  long_page: 'a page held more records than its place in the total says',
  repeated_sid: 'a sid appeared twice',
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
        { slice, page: 0, hint: 'Read with window: false, which requests the query as one list.' },
      );
  }
}
