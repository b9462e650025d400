import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duration } from '@call-attribution/core/time';

/** OAuth protected-resource metadata. */
export interface AuthMetadata {
  /** The public URL of this endpoint, which is the audience of the token. */
  readonly resource: string;
  /** URLs of the servers that issue tokens. Their tokens are checked with the keys that they publish, unless `verify` is given. */
  readonly authorizationServers: readonly string[];
  /** Scopes that a token must have. Default: none. */
  readonly scopes?: readonly string[] | undefined;
}

/** How the HTTP endpoint authenticates clients. */
export interface HttpAuth {
  /** The bearer token that clients must send. It belongs to this server and is never a key of the call-attribution API. */
  readonly token?: string | undefined;
  /** Verifies a token in a way of your own. It must check the audience too. */
  readonly verify?: ((token: string) => Promise<boolean>) | undefined;
  /** Says where clients get a token (OAuth protected-resource metadata, RFC 9728), and whose tokens count. */
  readonly metadata?: AuthMetadata | undefined;
}

/** How a mounted endpoint decides who may use it. */
export interface MountOptions {
  /** Host names to accept in the `Host` header, besides those of loopback. They need `auth`. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins to accept in the `Origin` header, besides pages on loopback hosts; their pages may read responses (CORS). */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Largest request body in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** How clients prove who they are. `false`: the application checks that before it passes a request on. */
  readonly auth?: HttpAuth | false | undefined;
}

/** Where and how `serveHttp` listens. */
export interface HttpOptions extends Omit<MountOptions, 'auth'> {
  /** Default 3000; 0 picks a free one. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`. An address that other machines can reach needs `auth`. */
  readonly host?: string | undefined;
  /** Path of the endpoint. Default `/mcp`. */
  readonly path?: string | undefined;
  /** How clients prove who they are. Default: anyone on this machine may connect. */
  readonly auth?: HttpAuth | undefined;
  /** Time for running calls to finish when the server is closed. Default `5s`. */
  readonly drainTimeout?: Duration | undefined;
}

/** What an endpoint needs to know, however it is reached. */
export interface EndpointSettings {
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly maxBodyBytes: number;
  readonly auth?: HttpAuth | undefined;
}

/** A running HTTP endpoint. `await using` closes it. */
export interface HttpEndpoint extends AsyncDisposable {
  /** The URL for clients. */
  readonly url: string;
  /** Accepts no new requests, waits for running ones (up to `drainTimeout`), then closes. */
  close(): Promise<void>;
}

/** An endpoint in an application that listens itself. `await using` closes it. */
export interface HttpMount extends AsyncDisposable {
  /** For Node.js, Express and Fastify. A body that a parser has read before is taken from `request.body`. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** For Hono, Deno and whatever else passes a `Request`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Refuses new requests and ends the open streams. */
  close(): Promise<void>;
}

/** What decides who may use an endpoint, with the defaults. */
export const accessOf = (options: Omit<MountOptions, 'auth'>) => ({
  allowedHosts: options.allowedHosts ?? [],
  allowedOrigins: options.allowedOrigins ?? [],
  maxBodyBytes: options.maxBodyBytes ?? 1_048_576,
});
