import { createPrivateKey, createSign } from 'node:crypto';
import { join } from 'node:path';
import { type Environment, readJsonInput } from '@call-attribution/core/settings';
import type { ZodType } from 'zod';
import { refused, type Sending, safeUrl, sendJson } from './http.ts';
import { PushError } from './problems.ts';
import { type Grant, keepToken, readKeyFile } from './token.ts';

/** A key of Google, as its file has it, or the metadata server. */
export type GoogleKey = {
  /** The project that requests count for. */
  readonly quota_project_id?: string | undefined;
} & (
  | {
      readonly type: 'service_account';
      readonly client_email: string;
      readonly private_key: string;
      readonly private_key_id?: string | undefined;
      readonly token_uri: string;
    }
  | {
      readonly type: 'authorized_user';
      readonly client_id: string;
      readonly client_secret: string;
      readonly refresh_token: string;
      readonly token_uri: string;
    }
  | {
      readonly type: 'impersonated_service_account';
      readonly source_credentials: GoogleKey;
      readonly service_account_impersonation_url: string;
    }
  | { readonly type: 'metadata'; readonly host: string }
);

/** Credentials of Google: where they come from, and the key. Nothing prints the key by accident. */
export interface GoogleCredentials {
  /** The file, or `the metadata server`. */
  readonly from: string;
  /** The key. */
  key(): GoogleKey;
}

const scope = 'https://www.googleapis.com/auth/datamanager';
const metadataServer = 'http://metadata.google.internal';

/**
 * Finds credentials as Application Default Credentials do: the file in `GOOGLE_APPLICATION_CREDENTIALS`, then the file that
 * `gcloud auth application-default login` writes, then the metadata server when the program runs at Google.
 */
export async function findGoogleCredentials(env: Environment): Promise<GoogleCredentials> {
  const named = env.GOOGLE_APPLICATION_CREDENTIALS;
  if (named) return keyFrom(named);
  const folder =
    env.CLOUDSDK_CONFIG ??
    (env.APPDATA ? join(env.APPDATA, 'gcloud') : join(env.HOME ?? '', '.config', 'gcloud'));
  const usual = join(folder, 'application_default_credentials.json');
  try {
    return await keyFrom(usual);
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
  return { from: 'the metadata server', key: () => ({ type: 'metadata', host }) };
}

async function keyFrom(file: string): Promise<GoogleCredentials> {
  const key = readJsonInput(await keySchema(), readKeyFile(file), `the key file ${file}`);
  return { from: file, key: () => key };
}

const tokenServer = 'https://oauth2.googleapis.com/token';

async function keySchema(): Promise<ZodType<GoogleKey>> {
  const { z } = await import('zod');
  const text = z.string().min(1);
  const server = z.string().refine(isTrusted, {
    error: ({ input }) => `must be a server of Google${hostOf(String(input))}`,
    params: { hint: 'use only key files that you have downloaded yourself' },
  });
  const shared = { quota_project_id: z.string().optional(), token_uri: server.default(tokenServer) };
  const serviceAccount = z.object({
    type: z.literal('service_account'),
    client_email: text,
    private_key: text.refine(canSign, 'must be a private key that can sign'),
    private_key_id: z.string().optional(),
    ...shared,
  });
  const user = z.object({
    type: z.literal('authorized_user'),
    client_id: text,
    client_secret: text,
    refresh_token: text,
    ...shared,
  });
  const impersonated = z.object({
    type: z.literal('impersonated_service_account'),
    source_credentials: z.discriminatedUnion('type', [serviceAccount, user]),
    service_account_impersonation_url: server,
    quota_project_id: z.string().optional(),
  });
  return z.discriminatedUnion('type', [serviceAccount, user, impersonated]);
}

/** A server that a key may be sent to: one of Google, or this machine. */
function isTrusted(address: string): boolean {
  const url = safeUrl(address);
  if (url === null) return false;
  const isGoogle = /(?:^|\.)googleapis\.com$/.test(url.hostname) || url.hostname === 'accounts.google.com';
  return isGoogle || url.protocol === 'http:';
}

const hostOf = (address: string): string => (URL.canParse(address) ? `, not ${new URL(address).host}` : '');

function canSign(key: string): boolean {
  try {
    return createPrivateKey(key).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

/** Returns an access token; `renew` gets another one. */
export function createTokenSource(
  credentials: GoogleCredentials,
  sending: Sending,
): (renew: boolean) => Promise<string> {
  return keepToken(sending.clock, () => exchange(credentials.key(), sending));
}

function exchange(key: GoogleKey, sending: Sending): Promise<Grant> {
  switch (key.type) {
    case 'service_account':
      return grant(key.token_uri, sending, {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: assertionOf(key, sending.clock.now()),
      });
    case 'authorized_user':
      return grant(key.token_uri, sending, {
        grant_type: 'refresh_token',
        client_id: key.client_id,
        client_secret: key.client_secret,
        refresh_token: key.refresh_token,
      });
    case 'impersonated_service_account':
      return impersonate(key, sending);
    case 'metadata':
      return fromMetadata(key.host, sending);
  }
}

async function grant(server: string, sending: Sending, form: Record<string, string>): Promise<Grant> {
  const url = new URL(server);
  const response = await sendJson(
    url,
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    },
    sending,
  );
  return granted(url, response.status, response.body, 'access_token', Number(response.body.expires_in));
}

type KeyOf<Type extends GoogleKey['type']> = Extract<GoogleKey, { type: Type }>;

async function impersonate(key: KeyOf<'impersonated_service_account'>, sending: Sending): Promise<Grant> {
  const { token } = await exchange(key.source_credentials, sending);
  const url = new URL(key.service_account_impersonation_url);
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

async function fromMetadata(host: string, sending: Sending): Promise<Grant> {
  const url = new URL('/computeMetadata/v1/instance/service-accounts/default/token', host);
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
  throw refused(url, { status }, typeof body.error === 'string' ? body.error : undefined);
}

/** A signed statement of who asks for a token, as RFC 7523 describes it. */
function assertionOf(key: KeyOf<'service_account'>, now: number): string {
  const issued = Math.floor(now / 1000);
  const { private_key_id: kid } = key;
  const head = { alg: 'RS256', typ: 'JWT', ...(kid === undefined ? {} : { kid }) };
  const claims = { iss: key.client_email, scope, aud: key.token_uri, iat: issued, exp: issued + 3600 };
  const signed = `${encode(head)}.${encode(claims)}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key.private_key, 'base64url')}`;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
