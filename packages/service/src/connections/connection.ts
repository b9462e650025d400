import type { Socket } from 'node:net';

/** One connection of a server. */
export interface Connection {
  /** The socket as it was accepted, below TLS. */
  readonly socket: Socket;
  /** The socket that carries HTTP: the one of TLS after the handshake. */
  stream: Socket;
  /** Address by which it is counted. */
  readonly address: string;
  /** Does it come from a proxy that the operator has named? */
  readonly isProxy: boolean;
  /** Aborted when the client disconnects or is disconnected. */
  readonly gone: AbortSignal;
  /** Aborts `gone`. */
  readonly leave: () => void;
  /** Notes how many bytes of its response are in memory until the client takes them. */
  readonly hold: (bytes: number) => void;
  /** Is there memory for its response? May close a client that does not read to make it so. */
  readonly hasMemory: () => boolean;
  /** `silent`: no byte of TLS yet; `handshake`; `idle`: ready for a request; `busy`: a request is in progress. */
  state: 'silent' | 'handshake' | 'idle' | 'busy';
  /** When it got into this state. */
  since: number;
  /** Has it ever had a response? */
  served: boolean;
  /** Bytes of its response that are in memory. */
  held: number;
  /** Bytes that the client has taken, and since when it has taken no more; null while nothing waits for it. */
  taken: number;
  stalledSince: number | null;
}

/** Why the service closed a connection. */
export type ClosedFor =
  | 'address'
  | 'total'
  | 'handshakes'
  | 'handshake_timeout'
  | 'slow_reader'
  | 'unsent_bytes';

/** A client that has not taken the next part of its response for this long may be closed to make space for others. */
export const slowMs = 500;

/** Compares what the client has taken with the last time. */
export function notePace(connection: Connection, now: number): void {
  const { bytesWritten, writableLength } = connection.stream;
  const taken = bytesWritten - writableLength;
  if (writableLength === 0) connection.stalledSince = null;
  else if (taken > connection.taken || connection.stalledSince === null) connection.stalledSince = now;
  connection.taken = taken;
}
