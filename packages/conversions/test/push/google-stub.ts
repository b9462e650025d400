import { generateKeyPairSync, verify } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { violations } from './schema.ts';

/** One event as the Data Manager API takes it. The names are those of its schema. */
export interface DataManagerEvent {
  readonly transactionId: string;
  readonly eventTimestamp: string;
  readonly lastUpdatedTimestamp?: string;
  readonly eventSource: 'PHONE';
  readonly adIdentifiers?: Readonly<Partial<Record<'gclid' | 'gbraid' | 'wbraid', string>>>;
  readonly userData?: { readonly userIdentifiers: readonly { readonly phoneNumber: string }[] };
  readonly consent?: {
    readonly adUserData: ConsentStatus;
    readonly adPersonalization: ConsentStatus;
  };
  readonly conversionValue?: number;
  readonly currency?: string;
}

/** What a caller agreed to, as the API spells it. */
export type ConsentStatus = 'CONSENT_GRANTED' | 'CONSENT_DENIED';

export const keys = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** What a request to the API was, once it was found to be right. */
export interface StubRequest {
  readonly events: readonly DataManagerEvent[];
  readonly validateOnly: boolean;
  readonly destinations: readonly Readonly<Record<string, unknown>>[];
  readonly quotaProject: string | undefined;
}

/**
 * A stand-in for Google's token server and Data Manager API, which checks every request against the
 * published schema.
 */
export interface GoogleStub {
  readonly url: string;
  /** Requests that were taken, in order. */
  readonly taken: StubRequest[];
  /** Conversions by transaction ID, as Google would have them. */
  readonly conversions: Map<string, DataManagerEvent>;
  /** How many tokens were given out, by the kind of grant. */
  readonly tokens: Map<string, number>;
  /** Click IDs that Google cannot read. */
  readonly badClicks: Set<string>;
  /** Responses for the next requests to the API, before they are looked at. */
  readonly trouble: ((
    request: IncomingMessage,
  ) => { status: number; body?: string; headers?: Record<string, string> } | null)[];
  /** Tokens are refused from now on; new ones are given out. */
  revoke(): void;
  close(): Promise<void>;
}

export async function startGoogleStub(): Promise<GoogleStub> {
  const taken: StubRequest[] = [];
  const conversions = new Map<string, DataManagerEvent>();
  const tokens = new Map<string, number>();
  const badClicks = new Set<string>();
  const trouble: GoogleStub['trouble'] = [];
  const valid = new Set<string>();
  let count = 0;

  const issue = (kind: string): object => {
    tokens.set(kind, (tokens.get(kind) ?? 0) + 1);
    count += 1;
    const token = `ya29.token-${count}`;
    valid.add(token);
    return { access_token: token, expires_in: 3600, token_type: 'Bearer' };
  };

  const error = (status: number, name: string, fieldViolations: object[] = []) => ({
    status,
    body: {
      error: {
        code: status,
        message: `There was a problem with the request. ${name}`,
        status: name,
        details:
          fieldViolations.length === 0
            ? []
            : [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }],
      },
    },
  });

  const token = (body: string): { status: number; body: object } => {
    const form = new URLSearchParams(body);
    const kind = form.get('grant_type') ?? '';
    if (kind === 'refresh_token') {
      const isKnown =
        form.get('refresh_token') === 'refresh-1' &&
        form.get('client_secret') === 'client-secret-1';
      return isKnown
        ? { status: 200, body: issue(kind) }
        : { status: 400, body: { error: 'invalid_grant' } };
    }

    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const read = (part: string): Record<string, unknown> =>
      JSON.parse(Buffer.from(part, 'base64url').toString());
    const isSigned = verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claims}`),
      keys.publicKey,
      Buffer.from(signature, 'base64url'),
    );
    const { aud, scope, iss, iat, exp } = read(claims);
    const isRight =
      isSigned &&
      read(head).alg === 'RS256' &&
      aud === `${url}/token` &&
      scope === 'https://www.googleapis.com/auth/datamanager' &&
      iss === 'calls@example.iam.gserviceaccount.com' &&
      Number(exp) - Number(iat) === 3600;
    return isRight
      ? { status: 200, body: issue('jwt') }
      : { status: 400, body: { error: 'invalid_grant' } };
  };

  const ingest = (request: IncomingMessage, body: string): { status: number; body: object } => {
    const json = JSON.parse(body) as StubRequest & { encoding?: string };
    const found = violations('IngestEventsRequest', json);
    if (found.length > 0) return error(400, `INVALID_ARGUMENT ${found.join('; ')}`);
    if (json.events.length === 0 || json.events.length > 2000) return error(400, 'TOO_MANY_EVENTS');
    const wrong = json.events.flatMap((event, index) => {
      const reasons = problemsOf(event, json.encoding, badClicks);
      return reasons.map(([field, reason]) => ({
        field: `events.events[${index}].${field}`,
        reason,
        description: 'wrong',
      }));
    });
    if (wrong.length > 0) return error(400, 'INVALID_ARGUMENT', wrong);
    taken.push({
      events: json.events,
      validateOnly: json.validateOnly,
      destinations: json.destinations,
      quotaProject: request.headers['x-goog-user-project'] as string | undefined,
    });
    if (!json.validateOnly)
      for (const event of json.events) conversions.set(event.transactionId, event);
    return { status: 200, body: { requestId: `request-${taken.length}` } };
  };

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stub');

    const answer = (): { status: number; body: unknown; headers?: Record<string, string> } => {
      if (pathname === '/token') return token(body);
      if (pathname === '/computeMetadata/v1/instance/service-accounts/default/token') {
        const isRight =
          request.headers['metadata-flavor'] === 'Google' && searchParams.get('scopes') !== null;
        return isRight ? { status: 200, body: issue('metadata') } : { status: 403, body: {} };
      }

      const planned = trouble.shift()?.(request);
      if (planned) return { body: '', ...planned };
      if (!valid.has((request.headers.authorization ?? '').replace('Bearer ', '')))
        return error(401, 'UNAUTHENTICATED');
      if (pathname === '/v1/events:ingest' && request.method === 'POST') {
        if (!request.headers['content-type']?.startsWith('application/json'))
          return error(400, 'INVALID_ARGUMENT');
        return ingest(request, body);
      }

      if (pathname === '/v1/requestStatus:retrieve' && request.method === 'GET') {
        const isKnown = searchParams.get('requestId') === 'request-1';
        return isKnown ? { status: 200, body: partialSuccess } : error(400, 'INVALID_ARGUMENT');
      }

      return error(404, 'NOT_FOUND');
    };

    const { status, body: out, headers = {} } = answer();
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof out === 'string' ? out : JSON.stringify(out));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    taken,
    conversions,
    tokens,
    badClicks,
    trouble,
    revoke: () => valid.clear(),
    close: () => new Promise((done) => server.close(() => done())),
  };
}

const partialSuccess = {
  requestStatusPerDestination: [
    {
      requestStatus: 'PARTIAL_SUCCESS',
      errorInfo: {
        errorCounts: [{ recordCount: '2', reason: 'PROCESSING_ERROR_REASON_INVALID_GCLID' }],
      },
      warningInfo: { warningCounts: [] },
      eventsIngestionStatus: { recordCount: '3' },
    },
  ],
};

/** What Google documents beyond the schema: hashes, identifiers, currencies. */
function problemsOf(
  event: DataManagerEvent,
  encoding: string | undefined,
  badClicks: ReadonlySet<string>,
): [string, string][] {
  const found: [string, string][] = [];
  const identifiers = event.userData?.userIdentifiers ?? [];
  if (identifiers.length > 10) found.push(['user_data', 'TOO_MANY_USER_IDENTIFIERS']);
  if (identifiers.length > 0 && encoding !== 'HEX')
    found.push(['encoding', 'REQUIRED_FIELD_MISSING']);
  for (const { phoneNumber } of identifiers)
    if (!/^[0-9a-f]{64}$/.test(phoneNumber))
      found.push(['user_data.user_identifiers', 'INVALID_SHA256_FORMAT']);

  const clicks = Object.values(event.adIdentifiers ?? {});
  if (clicks.length + identifiers.length === 0)
    found.push(['ad_identifiers', 'NO_IDENTIFIERS_PROVIDED']);
  for (const click of clicks)
    if (badClicks.has(String(click))) found.push(['ad_identifiers.gclid', 'INVALID_FORMAT']);
  if (
    event.conversionValue !== undefined &&
    event.currency !== undefined &&
    !/^[A-Z]{3}$/.test(event.currency)
  )
    found.push(['currency', 'INVALID_CURRENCY_CODE']);

  return found;
}
