import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';

const streamErrors = codeTable({
  data: {
    range_ignored:
      'The server sends items from outside the requested range, so it does not filter by date_added. It cannot be read by this package.',
    other_account:
      'The server sends calls of another account than before. Read each account with its own credentials, into its own file or store.',
    too_many_requests:
      'The read would never end: a cursor came twice, or the totals of the server cannot be true. Report it to its operator.',
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

const checkpointErrors = codeTable({
  usage: {
    checkpoint_invalid:
      'It is no checkpoint or sync state, was made for another query, file or folder, or another run has moved on. Use the filter and version it was made for, or remove it to start over.',
  },
});

/** Codes of `CheckpointError`. */
export type CheckpointErrorCode = keyof typeof checkpointErrors;

/** A checkpoint, or the state of a sync, cannot be used. */
export class CheckpointError extends CallsError<CheckpointErrorCode> {
  static override readonly codes: CodeTable = checkpointErrors;
  static {
    nameErrors(CheckpointError, 'CheckpointError');
  }
}

const fileLockedErrors = codeTable({
  busy: {
    file_locked:
      'Another process holds the lock file. Wait until it ends; remove the file if that process has nothing to do with it.',
  },
});

/** Codes of `FileLockedError`. */
export type FileLockedErrorCode = keyof typeof fileLockedErrors;

/** Another run holds a lock file. */
export class FileLockedError extends CallsError<FileLockedErrorCode> {
  static override readonly codes: CodeTable = fileLockedErrors;
  /** The lock file. */
  readonly path: string;
  /**
   * Id of the process that holds it; null when several processes were taking the lock at the same
   * moment.
   */
  readonly owner: number | null;
  /** Name of the machine or container of that process; null when unknown. */
  readonly host: string | null;

  static {
    nameErrors(FileLockedError, 'FileLockedError');
  }

  constructor(
    path: string,
    owner: { readonly pid: number; readonly host: string } | null,
    isLost = false,
  ) {
    let words = `Another process is taking the lock ${path} at the same moment. Try again.`;
    if (isLost)
      words = `The lock ${path} was removed or taken by another run. Nothing more is written; run again.`;
    if (owner !== null)
      words = `Process ${owner.pid} holds the lock ${path} (on ${owner.host}). Wait until it ends; remove the file if that process has nothing to do with it.`;
    super('file_locked', words, { isRetryable: true });
    this.path = path;
    this.owner = owner?.pid ?? null;
    this.host = owner?.host ?? null;
  }
}

const itemErrors = codeTable({
  data: {
    unfit_value:
      'A value is not of the type that the operator or column needs, an item comes too late, or a key is there twice. The message names the field and what to change.',
  },
});

/** Codes of `ItemError`. */
export type ItemErrorCode = keyof typeof itemErrors;

/** An item of a stream cannot be used. The message names the field and the call, never a value. */
export class ItemError extends CallsError<ItemErrorCode> {
  static override readonly codes: CodeTable = itemErrors;
  static {
    nameErrors(ItemError, 'ItemError');
  }
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `StreamError` of node-stream. */
    StreamError: StreamError;
    /** See `CheckpointError` of node-stream. */
    CheckpointError: CheckpointError;
    /** See `FileLockedError` of node-stream. */
    FileLockedError: FileLockedError;
    /** See `ItemError` of node-stream. */
    ItemError: ItemError;
  }
}
