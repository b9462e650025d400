import { createPrivateKey, createSign } from 'node:crypto';
import { join } from 'node:path';
import { type Environment, readJsonInput } from '@call-attribution/core/settings';
import type { z } from 'zod';
import { PushError } from './error.ts';
import { askFor, askForToken, type Grant, readKeyFile, type Sending, safeUrl } from './http.ts';

/** Credentials of Google. Nothing prints the key by accident. */
export interface GoogleCredentials {
  /** The project that requests count for; null where the key names none. */
  readonly project: string | null;
  /** The key. */
  key(): object;
}

type GoogleKey =
  | z.infer<Awaited<ReturnType<typeof keySchema>>>
  | { readonly type: 'metadata'; readonly host: string };

const scope = 'https://www.googleapis.com/auth/datamanager';
const metadataServer = 'http://metadata.google.internal';

/**
 * Finds credentials as Application Default Credentials do: the file in
 * `GOOGLE_APPLICATION_CREDENTIALS`, then the file that
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
    if (!(error instanceof PushError && error.reason === 'ENOENT')) throw error;
  }

  // Cloud Run, Cloud Functions, App Engine and GKE set one of these; elsewhere a request would only
  // wait.
  const atGoogle =
    env.GCE_METADATA_HOST ?? env.K_SERVICE ?? env.GAE_SERVICE ?? env.KUBERNETES_SERVICE_HOST;
  if (!atGoogle) {
    throw new PushError('bad_destination', {
      message: `no Google credentials were found (looked at GOOGLE_APPLICATION_CREDENTIALS, ${usual})`,
      hint: 'set GOOGLE_APPLICATION_CREDENTIALS to a key file, or run gcloud auth application-default login',
    });
  }

  const host = env.GCE_METADATA_HOST ? `http://${env.GCE_METADATA_HOST}` : metadataServer;
  return { project: null, key: () => ({ type: 'metadata', host }) };
}

async function keyFrom(file: string): Promise<GoogleCredentials> {
  const key = readJsonInput(await keySchema(), readKeyFile(file), `the key file ${file}`);
  return { project: key.quota_project_id ?? null, key: () => key };
}

const tokenServer = 'https://oauth2.googleapis.com/token';

async function keySchema() {
  const { z } = await import('zod');
  const text = z.string().min(1);
  const server = z.string().refine(isTrusted, {
    error: ({ input }) => `must be a server of Google${hostOf(String(input))}`,
    params: { hint: 'use only key files that you have downloaded yourself' },
  });
  const shared = {
    quota_project_id: z.string().optional(),
    token_uri: server.default(tokenServer),
  };
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
  return z.discriminatedUnion('type', [serviceAccount, user]);
}

/** A server that a key may be sent to: one of Google, or this machine. */
function isTrusted(address: string): boolean {
  const url = safeUrl(address);
  if (url === null) return false;
  const isGoogle =
    /(?:^|\.)googleapis\.com$/.test(url.hostname) || url.hostname === 'accounts.google.com';
  return isGoogle || url.protocol === 'http:';
}

const hostOf = (address: string): string =>
  URL.canParse(address) ? `, not ${new URL(address).host}` : '';

function canSign(key: string): boolean {
  try {
    return createPrivateKey(key).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

/** Asks Google for an access token. */
export async function askGoogle(credentials: GoogleCredentials, sending: Sending): Promise<Grant> {
  const key = credentials.key() as GoogleKey;
  if (key.type === 'metadata') {
    const url = new URL('/computeMetadata/v1/instance/service-accounts/default/token', key.host);
    url.searchParams.set('scopes', scope);
    const headers = { 'metadata-flavor': 'Google' };
    return askFor(url, { method: 'GET', headers }, sending);
  }

  const form: Record<string, string> =
    key.type === 'service_account'
      ? {
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: assertionOf(key, sending.clock.now()),
        }
      : {
          grant_type: 'refresh_token',
          client_id: key.client_id,
          client_secret: key.client_secret,
          refresh_token: key.refresh_token,
        };
  return askForToken(new URL(key.token_uri), form, sending);
}

/** A signed statement of who asks for a token, as RFC 7523 describes it. */
function assertionOf(key: Extract<GoogleKey, { type: 'service_account' }>, now: number): string {
  const issued = Math.floor(now / 1000);
  const { private_key_id: kid } = key;
  const head = { alg: 'RS256', typ: 'JWT', ...(kid === undefined ? {} : { kid }) };
  const claims = {
    iss: key.client_email,
    scope,
    aud: key.token_uri,
    iat: issued,
    exp: issued + 3600,
  };
  const signed = `${encode(head)}.${encode(claims)}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key.private_key, 'base64url')}`;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
