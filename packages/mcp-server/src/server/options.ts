import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import type { Reveal } from '../privacy/masking.ts';
import type { CustomTool } from '../tools/custom-tool.ts';

/** The options of `createServer`. */
export const serverOptions = defineOptions({
  /** Version of the API; needed only when `client` is a function. Default: the client's own, else `v3`. */
  version: option.oneOf('v2', 'v3'),
  /** Most tokens that one result may take, by estimate. Default 8,000; at least 1,000. */
  budget: option.anything<number>().default(8000),
  /** Kinds of personal data to show as they are. Default: none. */
  reveal: option.list<Reveal>().default([]),
  /** Key of the pseudonyms. The same key gives the same ones, also after a restart. Default: a random key. */
  pseudonymKey: option.of<string | Uint8Array>(
    'a string or bytes',
    (value) => typeof value === 'string' || value instanceof Uint8Array,
  ),
  /** Time zone of the account's times, as the operator knows it. Agents see it; no time is converted. */
  timeZone: option.string(),
  /**
   * A folder for the copies of calls that questions are asked of, masked, readable by this user alone. It needs `pseudonymKey`. Default:
   * they are kept in memory.
   */
  copyFolder: option.string(),
  /**
   * A folder for files of rows, for a host on the same machine: `list_calls` and `analyze_calls` then take `to_file`. Default: none.
   */
  exportFolder: option.string(),
  /** Tools of your own, listed after those of this package. Default: none. */
  tools: option.list<CustomTool>().default([]),
  /** Time after which a tool call is aborted. Default `45s`, since most hosts give up after 60 seconds. */
  callTimeout: option.timeout().default('45s'),
  /** The clock. Default: that of the machine. One with a `timer` also times how long a question waits for its calls. */
  clock: option.clock(),
  /** Gets unexpected errors, one line each, never with a secret or personal data. Default: nothing is logged. */
  log: option.callback<(line: string) => void>().default(() => undefined),
});

/** How `createServer` shows calls, and its limits. */
export interface CallsMcpOptions extends OptionsOf<typeof serverOptions> {}
