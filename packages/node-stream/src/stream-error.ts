import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';

const streamErrors = codeTable({
  data: {
    range_ignored:
      'The server sends items from outside the requested range, so it does not filter by date_added. It cannot be read by this package.',
    other_account:
      'The server sends calls of another account than before. Read each account with its own credentials, into its own file or store.',
    too_many_requests:
      'The read needed more requests than the items that came explain: what the server says of its totals cannot be true. Report it to its operator.',
    cursor_repeated:
      'The list gave a cursor twice, so it would go on without end. Report it to its operator.',
  },
  usage: {
    unexpected_page:
      'The `fetch` of a list returned something else than a page. Return { items, total, next }.',
    not_read:
      'Nothing reads this stream, so there is no verdict. Read it first: with `for await`, `pages()`, `pipeline` or `into`.',
  },
});

/** Codes of `StreamError`. */
export type StreamErrorCode = keyof typeof streamErrors;

/** A read cannot go on. What was delivered before stays good: resume from the checkpoint. */
export class StreamError extends CallsError<StreamErrorCode> {
  static override readonly codes: CodeTable = streamErrors;
  static {
    nameErrors(StreamError, 'StreamError');
  }
}
