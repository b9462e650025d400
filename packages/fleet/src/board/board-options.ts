import { group, kinds, type OptionKind, type OptionShape, whole } from '@call-attribution/core/errors';

/** How a board is opened. Options of another kind of board have no effect. */
export interface BoardOptions {
  /** NATS: servers that keep a copy of the board, when it is created. Default 3 in a cluster of three or more, else 1. */
  readonly replicas?: number | undefined;
  /** NATS: the content of a credentials file (`.creds`). Default: the file that `NATS_CREDS` names. */
  readonly credentials?: Uint8Array | undefined;
  /** Certificates in PEM, for a server that does not have one of a public authority, or asks for one. */
  readonly tls?: BoardTls | undefined;
  /** Where `NATS_USER`, `NATS_PASSWORD`, `NATS_TOKEN` and `NATS_CREDS` are looked up. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Ends the wait for a server that does not answer. */
  readonly signal?: AbortSignal | undefined;
  /** Called when opening has waited for 2 seconds, with the name of the board and a few words on why; it goes on waiting. */
  readonly onWaiting?: ((name: string, why: string) => void) | undefined;
}

/** Certificates of a connection. */
export interface BoardTls {
  /** Authorities that may have signed the certificate of the server. */
  readonly ca?: string | undefined;
  /** The certificate of this client. */
  readonly cert?: string | undefined;
  /** The key of this client. */
  readonly key?: string | undefined;
}

/** Kinds of the options above. */
export const boardOptions = {
  replicas: whole(1),
  credentials: { expected: 'bytes', accepts: (value) => value instanceof Uint8Array },
  tls: group({ ca: kinds.string, cert: kinds.string, key: kinds.string }),
  env: kinds.anything,
  signal: kinds.signal,
  onWaiting: kinds.callback,
} satisfies OptionShape & Record<keyof BoardOptions, OptionKind>;
