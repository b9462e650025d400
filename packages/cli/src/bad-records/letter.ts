import { createHash } from 'node:crypto';
import { type Call, CallsError, type Version } from '@call-attribution/core';
import { scanField } from '@call-attribution/core/page';
import { StreamError } from '@call-attribution/node-stream';
import { systemCode } from '../errors.ts';

/** A record that was set aside: one line of a dead-letter file. The record is kept whole, so the file holds personal data. */
export interface DeadLetter {
  /** Fingerprint of the account, the version and the record: the same record is kept once. */
  readonly id: string;
  /** When it was set aside. */
  readonly filed: string;
  /** Account in the store; null when an export set it aside. */
  readonly account: string | null;
  /** Version of the API that it came from. */
  readonly version: Version;
  /** Its sid, when it has one. */
  readonly sid: string | null;
  /** Why it was set aside; without values of the record. */
  readonly reason: { readonly code: string; readonly message: string };
  /** The record as it came, when it is UTF-8. */
  readonly record?: string;
  /** The record as it came, when it is not. */
  readonly recordBase64?: string;
  /** Fingerprint of what the store had under the sid at that time; null when it had nothing. */
  readonly before?: string | null;
}

/** A letter for a record of a stream, or for a call that the store refused. */
export function letterOf(
  bytes: Uint8Array,
  error: unknown,
  { account, version, now }: { account: string | null; version: Version; now: Date },
): DeadLetter {
  const hash = createHash('sha256')
    .update(JSON.stringify([account, version]))
    .update(bytes);
  const text = utf8(bytes);
  // The words of a stream begin with the place, which the next read of the same record may not share.
  const cause = error instanceof StreamError && error.cause instanceof Error ? error.cause : error;
  return {
    id: hash.digest('hex').slice(0, 32),
    filed: now.toISOString(),
    account,
    version,
    sid: scanField(bytes, { start: 0, end: bytes.length }, 'sid') ?? null,
    reason: {
      code: systemCode(cause) ?? 'unreadable',
      message: CallsError.is(cause)
        ? cause.summary
        : cause instanceof Error
          ? cause.message
          : 'It cannot be read.',
    },
    ...(text === null ? { recordBase64: Buffer.from(bytes).toString('base64') } : { record: text }),
  };
}

/** The record of a letter, parsed. Throws when it is not JSON. */
export function recordOf({ record, recordBase64 }: DeadLetter): unknown {
  return JSON.parse(
    record ?? new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(recordBase64 ?? '', 'base64')),
  );
}

/** A letter from a line of a file; null when the line is not one. */
export function readLetter(line: string): DeadLetter | null {
  try {
    const letter = JSON.parse(line) as Partial<DeadLetter> | null;
    const hasRecord = typeof letter?.record === 'string' || typeof letter?.recordBase64 === 'string';
    const hasVersion = letter?.version === 'v2' || letter?.version === 'v3';
    return typeof letter?.id === 'string' && hasRecord && hasVersion ? (letter as DeadLetter) : null;
  } catch {
    return null;
  }
}

/** A fingerprint of a call, whatever the order of its fields, and whether an empty one is null or missing. */
export function fingerprint(call: Call | null): string | null {
  if (call === null) return null;
  const entries = Object.entries(call)
    .filter(([, value]) => value !== null && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(entries)).digest('hex').slice(0, 32);
}

/** Is the error about one record, so that the others could be read without it? */
export function isBadRecord(error: unknown): boolean {
  const code = systemCode(error);
  if (code === 'unfit_record' || code === 'invalid_record') return true;
  // A page that is not JSON may come whole the next time; a record in a page that was proved complete will not.
  return code === 'invalid_json' && (error as { isRetryable?: unknown }).isRetryable === false;
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
