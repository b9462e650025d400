import { CallsError } from '../errors/calls-error.ts';
import { redact } from '../errors/redact.ts';
import type { Log, LogFields } from '../log/logger.ts';
import type { ApiRequest } from './api-request.ts';
import type { ClientReport, Settings } from './options.ts';

/** Logs how a request failed. What the program ended itself is not a failure, and `not_found` is often expected. */
export async function logFailure<T>(
  { log, clock }: Settings,
  { operation, url }: ApiRequest<unknown>,
  run: () => Promise<T>,
): Promise<T> {
  if (!log.error) return run();
  const began = clock.now();
  try {
    return await run();
  } catch (error) {
    const ms = Math.round(clock.now() - began);
    if (!(error instanceof CallsError)) log.debug?.('request aborted', { operation, url, ms });
    else {
      const { code, status, requestId, attempts } = error;
      const fields = { operation, code, status, requestId: shownId(requestId), attempts, ms, url };
      if (code === 'not_found') log.info?.('not found', fields);
      else log.error('request failed', fields);
    }
    throw error;
  }
}

const uuidOrHash = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=.*[a-f])[0-9a-f]{16,64})$/i;

/** A server chooses its ids. One that echoes a phone number must not bring it into a log; digits of a UUID are kept. */
const shownId = (id: string | undefined): string | undefined =>
  id === undefined || uuidOrHash.test(id) ? id : redact(id);

const reportMessages = {
  record: 'a record is not as documented',
  clamped: 'the server sends smaller pages than requested',
  total_moved: 'the list changes while it is read',
  repeated_calls: 'calls of the page before came again and were dropped',
  plain_http: 'keys are sent without encryption: the URL begins with http://',
} as const satisfies Record<ClientReport['type'], string>;

/** Logs what the client noticed. */
export function logReport({ warn }: Log, { type, ...rest }: ClientReport): void {
  // A server may call a field what it likes.
  const fields: LogFields = 'field' in rest ? { ...rest, field: redact(rest.field) } : rest;
  warn?.(reportMessages[type], fields);
}
