import type { Version } from '@call-attribution/core';
import type { MirrorOptions } from '../mirror/options.ts';
import type { Reveal } from '../privacy/masking.ts';
import type { CustomTool } from '../tools/custom-tool.ts';

/** How `createServer` shows calls, and its limits. */
export interface CallsMcpOptions {
  /** Version of the API; needed only when `client` is a function. Default: the client's own, else `v3`. */
  readonly version?: Version | undefined;
  /** Most tokens that one result may take, by estimate. Default 8,000; at least 1,000. */
  readonly budget?: number | undefined;
  /** Kinds of personal data to show as they are. Default: none. */
  readonly reveal?: readonly Reveal[] | undefined;
  /** Key of the pseudonyms. The same key gives the same ones, also after a restart. Default: a random key. */
  readonly pseudonymKey?: string | Uint8Array | undefined;
  /** Time zone of the account's times, as the operator knows it. Agents see it; no time is converted. */
  readonly timeZone?: string | undefined;
  /**
   * Keeps a local copy of all calls and answers from it. Needs the package `@call-attribution/warehouse`; call `close` in
   * the end.
   */
  readonly mirror?: MirrorOptions | undefined;
  /** How much a question reads over the API at most. Default 20,000 calls (`rows`) or 20 seconds (`ms`). */
  readonly summaryLimits?: { readonly rows?: number; readonly ms?: number } | undefined;
  /** Tools of your own, listed after those of this package. Default: none. */
  readonly tools?: readonly CustomTool[] | undefined;
  /** Milliseconds after which a tool call is aborted. Default 45,000, since most hosts give up after 60 seconds. */
  readonly callTimeoutMs?: number | undefined;
  /** Returns the current time in milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Gets unexpected errors, one line each, never with a secret or personal data. Default: nothing is logged. */
  readonly log?: ((line: string) => void) | undefined;
}
