/** Limits that `createConnections` keeps. */
export interface ConnectionLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  readonly handshakes: number;
  readonly handshakeMs: number;
  readonly sendMs: number;
  readonly unsentBytes: number;
}
