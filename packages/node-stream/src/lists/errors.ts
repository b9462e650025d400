import {
  CallsError,
  type CodeTable,
  codeTable,
  type ErrorDetails,
  nameErrors,
} from '@call-attribution/core/errors';
import type { Checkpoint } from '../reader/checkpoint.ts';
import type { Trouble } from '../reader/judge.ts';
import type { Span } from '../reader/span.ts';
import type { PlanFailure } from '../reader/state.ts';

const listErrors = codeTable({
  usage: {
    unexpected_page: '`fetch` of a list gave something else than `{ items, total, next }`. Correct it.',
  },
  data: {
    fetch_failed:
      'A page of a list could not be fetched. The `cause` is the error of `fetch`; resume with `checkpoint`.',
    list_range_ignored:
      'A list gives items from outside the requested range. Let `fetch` follow `from` and `to`, or set `hasRanges: false`.',
    list_incomplete:
      'The pages of a range did not agree in any try. Resume from `checkpoint` later, or with smaller ranges.',
  },
});

/** Codes of `ListError`. */
export type ListErrorCode = keyof typeof listErrors;

/** A read of a list ended early. */
export class ListError extends CallsError<ListErrorCode> {
  static override readonly codes: CodeTable = listErrors;
  /** The range that was read. */
  readonly range: Span | null;
  /** Covers everything that was delivered before; pass it as `checkpoint` to resume. */
  checkpoint: Checkpoint | null = null;

  static {
    nameErrors(ListError, 'ListError');
  }

  constructor(code: ListErrorCode, words: string, range: Span | null, details: ErrorDetails = {}) {
    super(code, words, details);
    this.range = range;
  }
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `ListError` of node-stream. */
    ListError: ListError;
  }
}

const reasons: Readonly<Record<Trouble, string>> = {
  wrong_page: 'a page was not the one requested',
  moved_total: 'the total changed between pages',
  short_page: 'there were fewer items than the total says',
  long_page: 'there were more items than the total says',
  repeated_id: 'an id appeared twice',
  changed_since_checkpoint: 'the range changed since the checkpoint',
};

const words = ({ from, to }: Span): string =>
  from === null && to === null
    ? 'the whole list'
    : `the range from ${from ?? 'the beginning'} to ${to ?? 'the end'}`;

/** The error for a failure of the planning. `cause` is what `fetch` threw. */
export function listErrorOf(failure: PlanFailure, cause: unknown): unknown {
  const { span } = failure;
  switch (failure.kind) {
    case 'request': {
      if (cause instanceof ListError || (cause instanceof Error && cause.name === 'AbortError')) return cause;
      const what = cause instanceof Error ? cause.message : 'no Error was thrown';
      return new ListError(
        'fetch_failed',
        `Page ${failure.index} of ${words(span)} could not be fetched: ${what}`,
        span,
        {
          cause,
        },
      );
    }
    case 'ranges_ignored':
      return new ListError(
        'list_range_ignored',
        `fetch was asked for ${words(span)} and gave items from outside of it. Let it follow from and to, or set hasRanges: false.`,
        span,
      );
    case 'incomplete':
      return new ListError(
        'list_incomplete',
        `In ${failure.tries} tries the pages of ${words(span)} did not agree (${reasons[failure.trouble]}): ` +
          `expected ${failure.expected ?? 'a total'}, got ${failure.got}.`,
        span,
        { isRetryable: true },
      );
  }
}
