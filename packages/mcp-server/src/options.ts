import type { Version } from '@call-attribution/core';
import type { Reveal } from './privacy/classes.ts';

/** Options of `createServer`. */
export interface CallsMcpOptions {
  /** Version of the API; needed only when `client` is a function. Default: the client's own, else `v3`. */
  readonly version?: Version;
  /** Most tokens one result may take, by estimate. Default 8,000; at least 1,000. */
  readonly budget?: number;
  /** Kinds of personal data to show as they are. Default: none. */
  readonly reveal?: readonly Reveal[];
  /** Key of the pseudonyms. The same key gives the same ones, also after a restart. Default: a random one. */
  readonly pseudonymKey?: string | Uint8Array;
  /** Zone that the operator says the account's times are in; told to agents, never applied. */
  readonly timeZone?: string;
  /** How far `summarize_calls` reads. Default 20,000 calls, 20 seconds. */
  readonly summaryLimits?: { readonly rows?: number; readonly ms?: number };
  /** Milliseconds after which a call is given up. Default 45,000: most hosts give up after 60 seconds. */
  readonly callTimeoutMs?: number;
  /** Milliseconds now. Default `performance.now`. */
  readonly now?: () => number;
  /** Gets a line for the log: unexpected errors, never a secret or personal data. Default: none. */
  readonly log?: (line: string) => void;
}
