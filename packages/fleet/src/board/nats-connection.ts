import { setTimeout } from 'node:timers/promises';
import { ConfigurationError } from '@call-attribution/core/errors';
import { readSmallFile } from '@call-attribution/core/settings';
import type {
  Authenticator,
  NatsConnection,
  NodeConnectionOptions,
  TlsOptions,
} from '@nats-io/transport-node';
import { FleetError } from '../errors.ts';
import type { BoardOptions, BoardTls } from './board-options.ts';

type Transport = typeof import('@nats-io/transport-node');
type JetStream = typeof import('@nats-io/jetstream');

/** The packages of the NATS client, which are loaded when a board on NATS is opened. */
export interface NatsModules {
  readonly transport: Transport;
  readonly jetstream: JetStream;
}

/** Loads the NATS client, or says how to install it. */
export async function loadNats(): Promise<NatsModules> {
  try {
    const [transport, jetstream] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ]);
    return { transport, jetstream };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new ConfigurationError(
      'missing_package',
      {
        message: 'A board on NATS needs the packages @nats-io/transport-node and @nats-io/jetstream.',
        hint: 'Install them with: npm install @nats-io/transport-node @nats-io/jetstream',
      },
      { cause },
    );
  }
}

/** The servers that a URL names, and what it says about the user. */
export interface NatsServers {
  /** `nats://n1,n2`, without a password. */
  readonly name: string;
  /** `host` or `host:port`. */
  readonly hosts: readonly string[];
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly isTls: boolean;
}

const form = /^(nats|tls):\/\/(?:([^@/]*)@)?([^@/?#]+)\/?$/;
const host = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Reads `nats://user:password@host:port,host`; `tls://` insists on an encrypted connection. */
export function natsServers(url: string): NatsServers {
  const [, scheme, login, list] = form.exec(url.replaceAll(/,(?:nats|tls):\/\//g, ',')) ?? [];
  const hosts = list?.split(',') ?? [];
  if (hosts.length === 0 || !hosts.every((each) => host.test(each)))
    throw new FleetError(
      'board_unfit',
      'The URL of a board on NATS must be nats://host, nats://host:4222 or nats://host,host,host.',
    );
  const [user, password] = (login ?? '').split(':', 2).map(decoded);
  return {
    name: `${scheme}://${hosts.join(',')}`,
    hosts,
    isTls: scheme === 'tls',
    ...(user ? { user, password } : {}),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Connects; waits for servers that do not answer, until the signal. Refused credentials or certificates are `board_unfit`.
 * Connections last until they are closed, whatever happens to the servers.
 */
export async function connectNats(
  { transport }: NatsModules,
  place: NatsServers,
  options: BoardOptions,
  signal: AbortSignal,
): Promise<NatsConnection> {
  const settings: NodeConnectionOptions = {
    servers: [...place.hosts],
    name: 'call-attribution-fleet',
    authenticator: authenticator(transport, place, options),
    ...(place.isTls || options.tls !== undefined ? { tls: certificates(options.tls) } : {}),
    timeout: 5_000,
    reconnectTimeWait: 500,
    reconnectJitter: 250,
    reconnectJitterTLS: 250,
    pingInterval: 5_000,
    maxPingOut: 2,
    noAsyncTraces: true,
  };
  for (;;) {
    signal.throwIfAborted();
    try {
      // This only looks whether a server is there: servers that are not would be left out of the connection for good.
      const probe = await transport.connect({ ...settings, reconnect: false });
      await probe.close();
      signal.throwIfAborted();
      return await transport.connect({ ...settings, waitOnFirstConnect: true, maxReconnectAttempts: -1 });
    } catch (cause) {
      signal.throwIfAborted();
      const refusal = refusalOf(transport, place, cause);
      if (refusal !== null) throw refusal;
      await setTimeout(500, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The error of a server that is there and will not have us; null for one that does not answer. */
function refusalOf({ errors }: Transport, { name }: NatsServers, cause: unknown): FleetError | null {
  if (cause instanceof FleetError) return cause;
  if (cause instanceof errors.AuthorizationError || cause instanceof errors.UserAuthenticationExpiredError)
    return new FleetError('board_unfit', `${name} refuses the credentials.`, {
      hint: 'Check NATS_CREDS, or NATS_USER and NATS_PASSWORD, or NATS_TOKEN.',
      cause,
    });
  const causes = [cause, (cause as Error).cause];
  const code = causes
    .map((each) => (each as NodeJS.ErrnoException | undefined)?.code)
    .find((each) => each !== undefined);
  const isWithoutTls = /'tls'/.test((cause as Error).message);
  if (isWithoutTls || /CERT|SIGNATURE|ERR_TLS|ERR_SSL/.test(code ?? ''))
    return new FleetError(
      'board_unfit',
      `There is no encrypted connection to ${name}${code ? ` (${code})` : ''}.`,
      {
        hint: 'Check that the server offers TLS, and that the authority of its certificate is known here.',
        cause,
      },
    );
  return null;
}

function authenticator(transport: Transport, place: NatsServers, options: BoardOptions): Authenticator {
  const {
    NATS_CREDS: path,
    NATS_TOKEN: token,
    NATS_USER: user,
    NATS_PASSWORD: password,
  } = options.env ?? process.env;
  if (place.user) return transport.usernamePasswordAuthenticator(place.user, place.password ?? '');
  const { credentials } = options;
  if (credentials !== undefined) return transport.credsAuthenticator(credentials);
  // Read for each connection, since such files are renewed.
  if (path) return transport.credsAuthenticator(() => readCredentials(path));
  if (token) return transport.tokenAuthenticator(token);
  if (user) return transport.usernamePasswordAuthenticator(user, password ?? '');
  return () => undefined;
}

function certificates({ ca, cert, key }: BoardTls = {}): TlsOptions {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function readCredentials(path: string): Uint8Array {
  try {
    return new TextEncoder().encode(readSmallFile(path).text);
  } catch (cause) {
    throw new FleetError(
      'board_unfit',
      `The credentials file that NATS_CREDS names cannot be read (${(cause as NodeJS.ErrnoException).code}).`,
      { hint: 'Check its path and permissions.', cause },
    );
  }
}
