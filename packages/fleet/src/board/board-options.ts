import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';

const tlsOptions = defineOptions({
  /** Authorities that may have signed the certificate of the server. */
  ca: option.string(),
  /** The certificate of this client. */
  cert: option.string(),
  /** The key of this client. */
  key: option.string(),
});

/** Certificates of a connection. */
export interface BoardTls extends OptionsOf<typeof tlsOptions> {}

/** The options of `openBoard`. */
export const boardOptions = defineOptions({
  /** NATS: servers that keep a copy of the board, when it is created. Default 3 in a cluster of three or more, else 1. */
  replicas: option.whole(1),
  /** NATS: the content of a credentials file (`.creds`). Default: the file that `NATS_CREDS` names. */
  credentials: option.of<Uint8Array>('bytes', (value) => value instanceof Uint8Array),
  /** Certificates in PEM, for a server that does not have one of a public authority, or asks for one. */
  tls: option.table<BoardTls, BoardTls>(tlsOptions),
  /** Where `NATS_USER`, `NATS_PASSWORD`, `NATS_TOKEN` and `NATS_CREDS` are looked up. Default `process.env`. */
  env: option.anything<Readonly<Record<string, string | undefined>>>(),
  /** Ends the wait for a server that does not answer. */
  signal: option.signal(),
  /** Called when opening has waited for 2 seconds, with the name of the board and a few words on why; it goes on waiting. */
  onWaiting: option.callback<(name: string, why: string) => void>(),
});

/** How a board is opened. Options of another kind of board have no effect. */
export interface BoardOptions extends OptionsOf<typeof boardOptions> {}
