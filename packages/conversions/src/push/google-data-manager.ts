import { createHash } from 'node:crypto';
import { redact } from '@call-attribution/core';
import { isJsonObject, type JsonObject, type SentRequest } from '@call-attribution/core/http';
import type { Consent, ConsentStatus } from '../consent.ts';
import type { Acceptance } from '../conversion.ts';
import type { LedgerEntry } from '../entry.ts';
import { usualAcceptance } from '../formats/columns.ts';
import { askGoogle, type GoogleCredentials } from './google-credentials.ts';
import {
  badDestination,
  endpointOf,
  keepToken,
  refused,
  type SendingOptions,
  sendingOf,
  sendSigned,
  type ToolResponse,
} from './http.ts';
import type { ChangeRefusal, PushTarget, SendOptions } from './push.ts';

/** Where events go: a conversion action of a Google Ads account. */
export interface DataManagerDestination {
  /** The account that owns the conversion action: 10 digits, with or without dashes. */
  readonly account: string;
  /** The manager account that the credentials belong to. Default: the account itself. */
  readonly loginAccount?: string;
  /** ID of the conversion action, which must be of the type that imports clicks. */
  readonly conversionAction: string;
}

/**
 * What became of the events of a request, as far as it is known. Google counts them by reason and
 * names none.
 */
export interface RequestDiagnostics {
  /** `PROCESSING`, `SUCCESS`, `PARTIAL_SUCCESS`, `FAILED`, or `REQUEST_STATUS_UNKNOWN`. */
  readonly status: string;
  /** Events that failed, counted by reason. */
  readonly errors: readonly { readonly reason: string; readonly count: number }[];
  /** Events with a warning, counted by reason. */
  readonly warnings: readonly { readonly reason: string; readonly count: number }[];
}

/** The Data Manager API for one destination. An event that is refused fails its whole request. */
export interface DataManager extends PushTarget {
  /** What became of a request, for a few days after it was sent. */
  diagnose(requestId: string): Promise<RequestDiagnostics>;
}

/** Settings of `createDataManager`. */
export interface DataManagerOptions extends SendingOptions {
  /** Whose requests they are. */
  readonly credentials: GoogleCredentials;
  /** Where the events go. */
  readonly destination: DataManagerDestination;
  /** Another server with the same API, for tests. Default `https://datamanager.googleapis.com`. */
  readonly endpoint?: string | undefined;
}

/**
 * Opens the Data Manager API for a conversion action. Nothing is sent before the first event.
 *
 * @example
 * const credentials = await findGoogleCredentials(process.env); const api = createDataManager({
 * credentials, destination: { account: '123-456-7890', conversionAction: '987654321' } });
 */
export function createDataManager(options: DataManagerOptions): DataManager {
  const {
    credentials,
    endpoint = 'https://datamanager.googleapis.com',
    destination: given,
  } = options;
  const sending = sendingOf(options);
  const base = endpointOf(endpoint);
  const destination = wireDestination(given);
  const token = keepToken(sending.clock, () => askGoogle(credentials, sending));

  const call = (url: URL, request: SentRequest): Promise<ToolResponse> =>
    sendSigned(url, request, sending, {
      async headers(renew) {
        const { project } = credentials;
        return {
          authorization: `Bearer ${await token(renew)}`,
          ...(project === null ? {} : { 'x-goog-user-project': project }),
        };
      },
      refusalOf,
    });

  return {
    most: 2_000,
    oneKind: false,
    async send(entries, options) {
      const { validateOnly } = options;
      const url = new URL('/v1/events:ingest', base);
      const events = entries.map((entry) => eventOf(entry, options));
      const body = JSON.stringify({
        destinations: [destination],
        events,
        validateOnly,
        encoding: 'HEX',
      });
      const headers = { 'content-type': 'application/json' };
      const response = await call(url, { method: 'POST', headers, body });
      if (response.status === 200) {
        const id = response.body.requestId;
        return {
          isTaken: true,
          refusals: [],
          requestId: typeof id === 'string' && id !== '' ? id : null,
        };
      }

      const refusals = refusalsOf(response.body, events.length);
      if (refusals.length === 0) throw refusalOf(url, response);
      return { isTaken: false, refusals, requestId: null };
    },
    async diagnose(requestId) {
      const url = new URL('/v1/requestStatus:retrieve', base);
      url.searchParams.set('requestId', requestId);
      const response = await call(url, { method: 'GET' });
      if (response.status !== 200) throw refusalOf(url, response);
      const [status] = list(response.body.requestStatusPerDestination);
      return {
        status: String(status?.requestStatus ?? 'REQUEST_STATUS_UNKNOWN'),
        errors: counts(object(status?.errorInfo)?.errorCounts),
        warnings: counts(object(status?.warningInfo)?.warningCounts),
      };
    },
  };
}

/**
 * Throws a `PushError` for a destination that does not have the form of one, as `createDataManager`
 * does.
 */
export function checkDestination(destination: DataManagerDestination): void {
  wireDestination(destination);
}

function wireDestination({ account, loginAccount, conversionAction }: DataManagerDestination) {
  if (!/^\d{1,20}$/.test(conversionAction))
    throw badDestination('the conversion action', 'its ID, a number');
  return {
    operatingAccount: wireAccount('the customer ID of the account', account),
    ...(loginAccount === undefined
      ? {}
      : { loginAccount: wireAccount('the customer ID of the login account', loginAccount) }),
    productDestinationId: conversionAction,
  };
}

function wireAccount(name: string, text: string) {
  const accountId = text.replaceAll('-', '');
  if (!/^\d{10}$/.test(accountId)) throw badDestination(name, '10 digits such as 123-456-7890');
  return { accountType: 'GOOGLE_ADS', accountId };
}

const object = (value: unknown): JsonObject | undefined =>
  isJsonObject(value) ? value : undefined;

const list = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

const counts = (value: unknown): { reason: string; count: number }[] =>
  list(value).map(({ reason, recordCount }) => ({
    reason: String(reason),
    count: Number(recordCount ?? 0),
  }));

/**
 * The events that a refused request names. Empty when it is about something else, such as the
 * destination.
 */
function refusalsOf(body: JsonObject, events: number): ChangeRefusal[] {
  const violations = list(object(body.error)?.details).flatMap(({ fieldViolations }) =>
    list(fieldViolations),
  );
  const refusals = violations.map(({ field, reason, description }) => ({
    index: Number(/\bevents\[(\d+)\]/.exec(String(field))?.[1] ?? -1),
    field: String(field).replace(/^.*\bevents\[\d+\]\.?/, ''),
    reason:
      typeof reason === 'string' && reason !== ''
        ? reason
        : redact(String(description ?? 'INVALID')),
  }));
  const isAbout = ({ index }: ChangeRefusal): boolean => index >= 0 && index < events;
  return refusals.every(isAbout) ? refusals : [];
}

function refusalOf(url: URL, response: ToolResponse) {
  const error = object(response.body.error);
  return refused(url, response, error?.status, error?.message);
}

/**
 * Which calls the Data Manager API takes. With `phone`, calls without a click ID too: they are
 * matched by the hashed number of the caller who agreed to it, whose click Google remembers for 63
 * days.
 */
export function dataManagerAccepts({ phone }: { readonly phone: boolean }): Acceptance {
  return {
    ...usualAcceptance,
    matchBy: ['gclid', 'gbraid', 'wbraid', ...(phone ? (['caller number'] as const) : [])],
    numberNeedsConsent: true,
    findsBy: 'id',
    takesConsent: true,
    clickWindow: phone ? '63d' : '90d',
  };
}

/** The event of an entry. */
function eventOf(
  entry: LedgerEntry,
  { now, numbers }: Pick<SendOptions, 'now' | 'numbers'>,
): object {
  const { action, click, currency, consent } = entry;
  const value = action === 'retract' ? 0 : entry.value;
  const phone = numbers.get(entry.key);
  return {
    transactionId: entry.key,
    eventTimestamp: new Date(entry.at).toISOString(),
    ...(action === 'add' ? {} : { lastUpdatedTimestamp: new Date(now).toISOString() }),
    eventSource: 'PHONE',
    ...(click === null ? {} : { adIdentifiers: { [click.kind]: click.id } }),
    ...(phone === undefined
      ? {}
      : { userData: { userIdentifiers: [{ phoneNumber: sha256(phone) }] } }),
    ...(consent ? { consent: consentOf(consent) } : {}),
    ...(value === null ? {} : { conversionValue: value }),
    ...(value === null || currency === null ? {} : { currency }),
  };
}

/** What is not known is not said. */
function consentOf({ adUserData, adPersonalization }: Consent): object {
  const wordOf = (status: ConsentStatus) =>
    status === 'unknown' ? undefined : `CONSENT_${status.toUpperCase()}`;
  return { adUserData: wordOf(adUserData), adPersonalization: wordOf(adPersonalization) };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
