import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { Trouble } from '../slicing/judge.ts';
import { describeSlice, type Slice } from '../query/time-slice.ts';

/** Where in a read something happened. */
export interface StreamPlace {
  readonly slice: Slice;
  /** Page within the slice, from 0. */
  readonly page: number;
}

/** A read ended early. Carries the place and, once the stream has it, the checkpoint to go on from. */
export class StreamError extends Error {
  /** What went wrong; for a failed request, the code of the client's error. */
  readonly code: string;
  readonly isRetryable: boolean;
  readonly slice: Slice;
  readonly page: number;
  readonly hint?: string;
  /** Everything before it was handed out; give it as `checkpoint` to go on. */
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

  /** A slice was answered with records from outside of it. */
  static rangeIgnored(slice: Slice): StreamError {
    return new StreamError(
      'range_ignored',
      `${describeSlice(slice)} was answered with a call from outside of that range; expected only calls inside. ` +
        'Read with window: false if this server does not filter by date_added.',
      { slice, page: 0 },
    );
  }
}

/** A slice could not be read as a whole: its pages did not agree in any try. */
export class IncompleteError extends StreamError {
  /** Records the slice has by its total, null when the server gave none, and distinct records the last try met. */
  readonly expected: number | null;
  readonly got: number;

  constructor(facts: {
    slice: Slice;
    expected: number | null;
    got: number;
    trouble: Trouble | 'no_total';
    tries: number;
  }) {
    const { slice, expected, got, trouble, tries } = facts;
    super(
      'incomplete',
      `${describeSlice(slice)} could not be read as a whole in ${tries} ${tries === 1 ? 'try' : 'tries'}: ` +
        `expected ${expected ?? 'a total'}, got ${got} in the last (${reasons[trouble]}).`,
      { slice, page: 0, isRetryable: trouble !== 'no_total' },
    );
    this.name = 'IncompleteError';
    this.expected = expected;
    this.got = got;
  }
}

const reasons: Readonly<Record<Trouble | 'no_total', string>> = {
  wrong_page: 'a page was not the one asked for',
  moved_total: 'the total moved between pages',
  short_page: 'a page held fewer records than its place in the total says',
  long_page: 'a page held more records than its place in the total says',
  repeated_sid: 'a sid came twice',
  changed_since_checkpoint: 'the slice changed since the checkpoint',
  no_total: 'the server gave no total, so nothing proves that this is all',
};
