import { type Call, CallsError } from '@call-attribution/core';
import { codeOf } from '@call-attribution/core/errors';
import { scanFields } from '@call-attribution/core/page';
import { type DeadRecord, StreamError } from '@call-attribution/node-stream';
import { CliError, unfitValue } from '../errors.ts';
import { explain } from '../failures.ts';
import { plural } from '../terminal/numbers.ts';

/**
 * What happens to records that cannot be read or stored, in one run of a command: it stops at the
 * first, or leaves them out.
 */
export interface BadRecords {
  /** The option of a stream or a sync. */
  readonly onError: 'fail' | ((dead: DeadRecord) => 'skip');
  /** Leaves out a call that the store refused. */
  refuse(call: Call, error: unknown): void;
  /** How many were left out. */
  leftOut(): number;
  /** What was left out, and why, a line each: each record once, however often it was read. */
  names(): readonly string[];
}

/** The policy of `--on-bad-record`: whether such records are left out. */
export function badRecords(isSkipping: boolean): BadRecords {
  /** Why, by the name of the record. */
  const found = new Map<string, string>();

  const skip = (dead: DeadRecord): 'skip' => {
    found.set(nameOf(dead), reasonOf(dead.error));
    return 'skip';
  };

  return {
    onError: isSkipping ? skip : 'fail',
    refuse: ({ sid }, error) => found.set(sidText(sid), reasonOf(error)),
    leftOut: () => found.size,
    names: () => [...found].map(([name, reason]) => `left out ${name}: ${reason}`),
  };
}

const sidText = (sid: string): string => (/^[\w.-]+$/.test(sid) ? sid : JSON.stringify(sid));

/** The sid of a record, or its place where none can be read. */
function nameOf({ bytes, slice, page, index }: DeadRecord): string {
  const [[sid] = []] = scanFields(bytes, [{ start: 0, end: bytes.length }], ['sid']);
  if (sid) return sidText(sid);
  const period = `from ${slice.from ?? 'the first'} to ${slice.to ?? 'the latest'}`;
  return `record ${index + 1} of page ${page + 1} of the calls ${period}`;
}

/**
 * A sentence without values of the record. The words of a stream begin with the place, which the
 * next read may not share.
 */
function reasonOf(error: unknown): string {
  const cause = error instanceof StreamError && error.cause instanceof Error ? error.cause : error;
  return CallsError.is(cause) ? cause.summary : 'It cannot be read.';
}

const wayOut = '--on-bad-record skip leaves such records out and names them';

/** An error about one record names the way out; any other error stays what it is. */
export async function withWayOut(error: unknown): Promise<unknown> {
  if (CallsError.is(error, 'unfit_value'))
    // The hint is for programs.
    return unfitValue(error.summary, error, [wayOut]);

  const code = codeOf(error);

  // A page that is not JSON may come whole the next time; a record in a page that was proved
  // complete will not.
  const isBroken = code === 'invalid_json' && CallsError.is(error) && !error.isRetryable;
  if (code !== 'unfit_record' && code !== 'invalid_record' && !isBroken) return error;
  const { message } = explain(error);
  return new CliError(message, {
    cause: error,
    hints: [wayOut],
  });
}

/** How many records are not in the result of a sync; null when all are. */
export function leftOutText(bad: BadRecords): string | null {
  const left = bad.leftOut();
  if (left === 0) return null;
  return `INCOMPLETE: left out ${plural(left, 'record')} that could not be read or stored`;
}
