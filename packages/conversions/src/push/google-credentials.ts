import { createSign } from 'node:crypto';
import { join } from 'node:path';
import type { Environment } from '@call-attribution/core/settings';
import { refused, type Sending, safeUrl, sendJson } from './http.ts';
import { PushError } from './problems.ts';
import { type Grant, keepToken, readKeyFile } from './token.ts';

/** Credentials of Google: where they come from, and the fields of the file. Nothing prints the fields by accident. */
export interface GoogleCredentials {
  /** The file, or `the metadata server`. */
  readonly from: string;
  /** A field of the file. */
  field(name: string): unknown;
}

const scope = 'https://www.googleapis.com/auth/datamanager';
const metadataServer = 'http://metadata.google.internal';

/**
 * Finds credentials as Application Default Credentials do: the file in `GOOGLE_APPLICATION_CREDENTIALS`, then the file that
 * `gcloud auth application-default login` writes, then the metadata server when the program runs at Google.
 */
export async function findGoogleCredentials(env: Environment): Promise<GoogleCredentials> {
  const named = env.GOOGLE_APPLICATION_CREDENTIALS;
  if (named) return credentialsOf(named, await readKeyFile(named));
  const folder =
    env.CLOUDSDK_CONFIG ??
    (env.APPDATA ? join(env.APPDATA, 'gcloud') : join(env.HOME ?? '', '.config', 'gcloud'));
  const usual = join(folder, 'application_default_credentials.json');
  try {
    return credentialsOf(usual, await readKeyFile(usual));
  } catch (error) {
    if (!(error instanceof PushError && error.problem.code === 'key_file_unreadable')) throw error;
    if (error.problem.reason !== 'ENOENT') throw error;
  }
  // Cloud Run, Cloud Functions, App Engine and GKE set one of these; elsewhere a request would only wait.
  const atGoogle = env.GCE_METADATA_HOST ?? env.K_SERVICE ?? env.GAE_SERVICE ?? env.KUBERNETES_SERVICE_HOST;
  if (!atGoogle) {
    const looked = ['GOOGLE_APPLICATION_CREDENTIALS', usual];
    throw new PushError({ code: 'no_credentials', looked });
  }
  const host = env.GCE_METADATA_HOST ? `http://${env.GCE_METADATA_HOST}` : metadataServer;
  return credentialsOf('the metadata server', { type: 'metadata', host });
}

const credentialsOf = (from: string, fields: Record<string, unknown>): GoogleCredentials => ({
  from,
  field: (name) => fields[name],
});

/** Returns an access token; `renew` gets another one. */
export function createTokenSource(
  credentials: GoogleCredentials,
  sending: Sending,
): (renew: boolean) => Promise<string> {
  return keepToken(sending.clock, () => exchange(credentials, sending));
}

function exchange(credentials: GoogleCredentials, sending: Sending): Promise<Grant> {
  const kind = credentials.field('type');
  switch (kind) {
    case 'service_account':
      return grant(credentials, sending, () => ({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: assertionOf(credentials, sending.clock.now()),
      }));
    case 'authorized_user':
      return grant(credentials, sending, () => ({
        grant_type: 'refresh_token',
        client_id: text(credentials, 'client_id'),
        client_secret: text(credentials, 'client_secret'),
        refresh_token: text(credentials, 'refresh_token'),
      }));
    case 'impersonated_service_account':
      return impersonate(credentials, sending);
    case 'metadata':
      return fromMetadata(credentials, sending);
    default:
      throw new PushError({ code: 'key_file_kind', file: credentials.from, kind: String(kind) });
  }
}

const tokenServer = 'https://oauth2.googleapis.com/token';

async function grant(
  credentials: GoogleCredentials,
  sending: Sending,
  form: () => Record<string, string>,
): Promise<Grant> {
  const url = trusted(credentials, String(credentials.field('token_uri') ?? tokenServer));
  const response = await sendJson(
    url,
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form()).toString(),
    },
    sending,
  );
  return granted(url, response.status, response.body, 'access_token', Number(response.body.expires_in));
}

async function impersonate(credentials: GoogleCredentials, sending: Sending): Promise<Grant> {
  const source = credentials.field('source_credentials');
  if (typeof source !== 'object' || source === null)
    throw new PushError({
      code: 'key_file_incomplete',
      file: credentials.from,
      missing: 'source_credentials',
    });
  const { token } = await exchange(
    credentialsOf(credentials.from, source as Record<string, unknown>),
    sending,
  );
  const url = trusted(credentials, text(credentials, 'service_account_impersonation_url'));
  const { status, body } = await sendJson(
    url,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ scope: [scope], lifetime: '3600s' }),
    },
    sending,
  );
  return granted(url, status, body, 'accessToken', 3600);
}

async function fromMetadata(credentials: GoogleCredentials, sending: Sending): Promise<Grant> {
  const url = new URL(
    '/computeMetadata/v1/instance/service-accounts/default/token',
    text(credentials, 'host'),
  );
  url.searchParams.set('scopes', scope);
  const { status, body } = await sendJson(
    url,
    { method: 'GET', headers: { 'metadata-flavor': 'Google' } },
    sending,
  );
  return granted(url, status, body, 'access_token', Number(body.expires_in));
}

function granted(
  url: URL,
  status: number,
  body: Readonly<Record<string, unknown>>,
  name: string,
  seconds: number,
): Grant {
  const token = body[name];
  if (status === 200 && typeof token === 'string' && token !== '') return { token, seconds };
  // The description may quote the account; the code says enough.
  throw refused(url, status, typeof body.error === 'string' ? body.error : undefined);
}

/** A signed statement of who asks for a token, as RFC 7523 describes it. */
function assertionOf(credentials: GoogleCredentials, now: number): string {
  const issued = Math.floor(now / 1000);
  const keyId = credentials.field('private_key_id');
  const head = { alg: 'RS256', typ: 'JWT', ...(typeof keyId === 'string' ? { kid: keyId } : {}) };
  const claims = {
    iss: text(credentials, 'client_email'),
    scope,
    aud: String(credentials.field('token_uri') ?? tokenServer),
    iat: issued,
    exp: issued + 3600,
  };
  const signed = `${encode(head)}.${encode(claims)}`;
  try {
    const signature = createSign('RSA-SHA256')
      .update(signed)
      .sign(text(credentials, 'private_key'), 'base64url');
    return `${signed}.${signature}`;
  } catch (error) {
    if (error instanceof PushError) throw error;
    throw new PushError({
      code: 'key_file_incomplete',
      file: credentials.from,
      missing: 'private_key that can sign',
    });
  }
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function text(credentials: GoogleCredentials, name: string): string {
  const value = credentials.field(name);
  if (typeof value === 'string' && value !== '') return value;
  throw new PushError({ code: 'key_file_incomplete', file: credentials.from, missing: name });
}

/** A server that a key file may send its key to: one of Google, or this machine. */
function trusted(credentials: GoogleCredentials, address: string): URL {
  const url = safeUrl(address);
  const isGoogle =
    url !== null && (/(?:^|\.)googleapis\.com$/.test(url.hostname) || url.hostname === 'accounts.google.com');
  if (url !== null && (isGoogle || url.protocol === 'http:')) return url;
  const host = URL.canParse(address) ? new URL(address).host : 'an address that is not a URL';
  throw new PushError({ code: 'strange_token_server', file: credentials.from, host });
}
