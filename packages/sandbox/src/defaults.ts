// What a sandbox uses unless an option says otherwise, for programs that show or repeat it.
// Importing this loads no other code. Start with sandboxDefaults.

/** The defaults of `startSandbox` and `generate`. */
export const sandboxDefaults = {
  /** The number of calls, over all accounts. */
  records: 2_000,
  /** The seed of all randomness. */
  seed: 1,
  /** The number of accounts that share the calls. */
  accounts: 1,
  /** The number of days over which the calls are spread. */
  days: 90,
  /** The end of these days for `generate`, which has no clock. A sandbox ends now. */
  to: '2026-11-01 00:00:00',
  /** New calls per minute and account of a live sandbox. */
  callsPerMinute: 12,
  /** The number of requests that the journal keeps. */
  journal: 1_000,
} as const;
