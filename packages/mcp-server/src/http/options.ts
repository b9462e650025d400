import type { IncomingMessage, ServerResponse } from 'node:http';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';

const metadataOptions = defineOptions({
  /** The public URL of this endpoint, which is the audience of the token. */
  resource: option.string().required(),
  /** URLs of the servers that issue tokens. Their tokens are checked with the keys that they publish, unless `verify` is given. */
  authorizationServers: option.list<string>().required(),
  /** Scopes that a token must have. Default: none. */
  scopes: option.list<string>(),
});

/** OAuth protected-resource metadata. */
export interface AuthMetadata extends OptionsOf<typeof metadataOptions> {}

const authOptions = defineOptions({
  /** The bearer token that clients must send. It belongs to this server and is never a key of the call-attribution API. */
  token: option.string(),
  /** Verifies a token in a way of your own. It must check the audience too. */
  verify: option.callback<(token: string) => Promise<boolean>>(),
  /** Says where clients get a token (OAuth protected-resource metadata, RFC 9728), and whose tokens count. */
  metadata: option.table<AuthMetadata, AuthMetadata>(metadataOptions),
});

/** How the HTTP endpoint authenticates clients. */
export interface HttpAuth extends OptionsOf<typeof authOptions> {}

const auth = option.table<HttpAuth, HttpAuth>(authOptions);

/** The options of `mountHttp`. */
export const mountOptions = defineOptions({
  /** Host names to accept in the `Host` header, besides those of loopback. They need `auth`. */
  allowedHosts: option.list<string>().default([]),
  /** Origins to accept in the `Origin` header, besides pages on loopback hosts; their pages may read responses (CORS). */
  allowedOrigins: option.list<string>().default([]),
  /** Largest request body in bytes. Default 1 MiB. */
  maxBodyBytes: option.whole(1).default(1_048_576),
  /** How clients prove who they are. `false`: the application checks that before it passes a request on. */
  auth: auth.or(option.only(false)),
});

/** How a mounted endpoint decides who may use it. */
export interface MountOptions extends OptionsOf<typeof mountOptions> {}

/** The options of `serveHttp`. */
export const httpOptions = defineOptions({
  ...mountOptions.entries,
  /** Default 3000; 0 picks a free one. */
  port: option.whole(0).default(3000),
  /** Default `127.0.0.1`. An address that other machines can reach needs `auth`. */
  host: option.string().default('127.0.0.1'),
  /** Path of the endpoint. Default `/mcp`. */
  path: option.string().default('/mcp'),
  /** How clients prove who they are. Default: anyone on this machine may connect. */
  auth,
  /** Time for running calls to finish when the server is closed. Default `5s`. */
  drainTimeout: option.duration().default('5s'),
});

/** Where and how `serveHttp` listens. */
export interface HttpOptions extends OptionsOf<typeof httpOptions> {}

/** What an endpoint needs to know, however it is reached. */
export interface EndpointSettings extends Omit<ReadOf<typeof mountOptions>, 'auth'> {
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
