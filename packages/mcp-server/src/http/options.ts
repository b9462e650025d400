/** How the HTTP endpoint lets clients in. */
export interface HttpAuth {
  /** The bearer token a client must send. It is this server's own, never a key of the call-attribution API. */
  readonly token?: string;
  /** Judges a token instead, for instance against an authorization server. It must check the audience too. */
  readonly verify?: (token: string) => Promise<boolean>;
  /** Publishes OAuth protected-resource metadata (RFC 9728) for clients that look for where to get a token. */
  readonly metadata?: {
    /** This endpoint's public URL, the token's audience. */
    readonly resource: string;
    readonly authorizationServers: readonly string[];
    readonly scopes?: readonly string[];
  };
}

/** Options of `serveHttp`. */
export interface HttpOptions {
  /** Default 3000; 0 takes a free one. */
  readonly port?: number;
  /** Default `127.0.0.1`. Any other address than a loopback one needs `auth`. */
  readonly host?: string;
  /** Path of the endpoint. Default `/mcp`. */
  readonly path?: string;
  /** Host names taken in the `Host` header, next to the loopback names. */
  readonly allowedHosts?: readonly string[];
  /** Origins taken in the `Origin` header, next to pages on loopback hosts. */
  readonly allowedOrigins?: readonly string[];
  readonly auth?: HttpAuth;
  /** Largest request body in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Keeps a session per client for the revisions that have them. Default: stateless. */
  readonly sessions?: boolean | SessionOptions;
  /** Milliseconds that calls under way get when the server stops. Default 5000. */
  readonly graceMs?: number;
}

/** Limits of the session mode. */
export interface SessionOptions {
  /** Most sessions at a time; beyond it the longest idle one is ended. Default 200. */
  readonly max?: number;
  /** Milliseconds after which an idle session ends. Default 30 minutes. */
  readonly idleMs?: number;
  /** Milliseconds now; for tests. */
  readonly now?: () => number;
}
