/** A rule table that cannot be used: the message says where and what is wrong, the hints what to write. */
export class ValueRulesError extends Error {
  override readonly name = 'ValueRulesError';
  /** What to write instead, one line each. */
  readonly hints: readonly string[];

  constructor(message: string, options: { hints?: readonly string[] } = {}) {
    super(message);
    this.hints = options.hints ?? [];
  }
}
