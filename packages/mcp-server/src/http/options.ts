import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FetchHandler } from '@call-attribution/core/mount';

/** How the HTTP endpoint authenticates clients. */
export interface HttpAuth {
  /** The bearer token that clients must send. It belongs to this server and is never a key of the call-attribution API. */
  readonly token?: string;
  /** Verifies a token, for instance with an authorization server. It must check the audience too. */
  readonly verify?: (token: string) => Promise<boolean>;
  /** Publishes OAuth protected-resource metadata (RFC 9728), so that clients know where to get a token. */
  readonly metadata?: {
    /** The public URL of this endpoint, which is the audience of the token. */
    readonly resource: string;
    /** URLs of the servers that issue tokens. */
    readonly authorizationServers: readonly string[];
    /** Scopes that a token can have. */
    readonly scopes?: readonly string[];
  };
}

/** Where and how `serveHttp` listens. */
export interface HttpOptions {
  /** Default 3000; 0 picks a free one. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`. An address that other machines can reach needs `auth`. */
  readonly host?: string | undefined;
  /** Path of the endpoint. Default `/mcp`. */
  readonly path?: string | undefined;
  /** Host names to accept in the `Host` header, besides those of loopback. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins to accept in the `Origin` header, besides pages on loopback hosts. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** How clients prove who they are. Default: anyone on this machine may connect. */
  readonly auth?: HttpAuth | undefined;
  /** Largest request body in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Keeps a session per client for the revisions that have sessions. Default: stateless. */
  readonly sessions?: boolean | SessionOptions | undefined;
  /** Milliseconds that running calls get to finish when the server stops. Default 5000. */
  readonly graceMs?: number | undefined;
}

/** Limits on sessions. */
export interface SessionOptions {
  /** Most sessions at a time; one more ends the session that has been idle longest. Default 200. */
  readonly max?: number | undefined;
  /** Milliseconds after which an idle session ends. Default 30 minutes. */
  readonly idleMs?: number | undefined;
  /** Returns the current time in milliseconds. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** A running HTTP endpoint. `await using` closes it. */
export interface HttpEndpoint extends AsyncDisposable {
  /** The URL for clients. */
  readonly url: string;
  /** Accepts no new requests, waits for running ones (up to `graceMs`), then closes. */
  close(): Promise<void>;
}

/** How a mounted endpoint decides who may use it. */
export interface MountOptions
  extends Pick<HttpOptions, 'allowedHosts' | 'allowedOrigins' | 'maxBodyBytes' | 'sessions'> {
  /** How clients prove who they are. `false`: the application checks that before it passes a request on. */
  readonly auth: HttpAuth | false;
}

/** An endpoint in an application that listens itself. `await using` closes it. */
export interface HttpMount extends AsyncDisposable {
  /** For Node.js, Express and Fastify. A body that a parser has read before is taken from `request.body`. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** For Hono, Deno and whatever else passes a `Request`. */
  readonly fetch: FetchHandler;
  /** Refuses new requests and ends the sessions. */
  close(): Promise<void>;
}
