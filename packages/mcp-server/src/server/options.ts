import { checkNames } from '@call-attribution/core/options';
import { type Clock, type Duration, deadlineMillis, systemClock } from '@call-attribution/core/time';
import type { Reveal } from '../privacy/mask.ts';
import type { CustomTool } from '../tools/custom-tool.ts';

/** How `createServer` shows calls, and its limits. */
export interface CallsMcpOptions {
  /** Version of the API; needed only when `client` is a function. Default: the client's own, else `v3`. */
  readonly version?: 'v2' | 'v3' | undefined;
  /** Most tokens that one result may take, by estimate. Default 8,000; at least 1,000. */
  readonly budget?: number | undefined;
  /** Kinds of personal data to show as they are. Default: none. */
  readonly reveal?: readonly Reveal[] | undefined;
  /** Key of the pseudonyms. The same key gives the same ones, also after a restart. Default: a random key. */
  readonly pseudonymKey?: string | Uint8Array | undefined;
  /** Time zone of the account's times, as the operator knows it. Agents see it; no time is converted. */
  readonly timeZone?: string | undefined;
  /**
   * A folder for the copies of calls that questions are asked of, masked, readable by this user alone. It needs `pseudonymKey`. Default:
   * they are kept in memory.
   */
  readonly copyFolder?: string | undefined;
  /**
   * A folder for files of rows, for a host on the same machine: `list_calls` and `analyze_calls` then take `to_file`. Default: none.
   */
  readonly exportFolder?: string | undefined;
  /** Tools of your own, listed after those of this package. Default: none. */
  readonly tools?: readonly CustomTool[] | undefined;
  /** Time after which a tool call is aborted. Default `45s`, since most hosts give up after 60 seconds. */
  readonly callTimeout?: Duration | undefined;
  /** The clock. Default: that of the machine. One with a `timer` also times how long a question waits for its calls. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Gets unexpected errors, one line each, never with a secret or personal data. Default: nothing is logged. */
  readonly log?: ((line: string) => void) | undefined;
}

const optionNames = Object.keys({
  version: 1,
  budget: 1,
  reveal: 1,
  pseudonymKey: 1,
  timeZone: 1,
  copyFolder: 1,
  exportFolder: 1,
  tools: 1,
  callTimeout: 1,
  clock: 1,
  log: 1,
} satisfies Record<keyof CallsMcpOptions, 1>);

/** The options with their defaults, times in milliseconds. Misspelled names are refused. */
export function serverSettings(options: CallsMcpOptions) {
  checkNames(options, optionNames);
  return {
    ...options,
    budget: options.budget ?? 8000,
    reveal: options.reveal ?? [],
    tools: options.tools ?? [],
    callTimeout: deadlineMillis(options.callTimeout ?? '45s', 'callTimeout'),
    clock: options.clock ?? systemClock,
    log: options.log ?? (() => undefined),
  };
}
