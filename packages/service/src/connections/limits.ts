/** Limits that `createConnections` keeps. */
export interface ConnectionLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  readonly handshakes: number;
  readonly handshakeTimeout: number;
  readonly sendTimeout: number;
  readonly unsentBytes: number;
}
