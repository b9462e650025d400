/** Something in a file of feeds that cannot be used, as facts. `FeedsError` has a sentence for each. */
export type FeedsProblem =
  | { readonly code: 'not_json'; readonly reason: string }
  | { readonly code: 'no_feeds' }
  | { readonly code: 'not_an_object'; readonly feed: number }
  | {
      readonly code: 'unknown_name';
      readonly feed: number | null;
      readonly name: string;
      readonly near: string | undefined;
      readonly known: readonly string[];
    }
  | { readonly code: 'missing'; readonly feed: number; readonly name: string; readonly example: string }
  | { readonly code: 'wrong_value'; readonly feed: number; readonly name: string; readonly expected: string }
  | {
      readonly code: 'unknown_format';
      readonly feed: number;
      readonly near: string | undefined;
      readonly known: readonly string[];
    }
  | { readonly code: 'unknown_zone'; readonly feed: number; readonly zone: string }
  | { readonly code: 'no_name'; readonly feed: number; readonly title: string }
  | { readonly code: 'two_values'; readonly feed: number }
  | { readonly code: 'value_rules'; readonly feed: number; readonly message: string }
  | { readonly code: 'same_path'; readonly feed: number; readonly other: number; readonly path: string }
  | {
      readonly code: 'window_too_long';
      readonly feed: number;
      readonly days: number;
      readonly most: number;
      readonly title: string;
    }
  | { readonly code: 'ledger_alone'; readonly feed: number; readonly missing: 'once' | 'ledger' }
  | {
      readonly code: 'ledger_unusable';
      readonly feed: number;
      readonly file: string;
      readonly message: string;
    }
  | { readonly code: 'adds_up'; readonly feed: number; readonly title: string }
  | { readonly code: 'clear_password'; readonly feed: number }
  | { readonly code: 'many_passwords'; readonly feed: number }
  | { readonly code: 'user_alone'; readonly feed: number; readonly missing: 'user' | 'password' }
  | { readonly code: 'bad_variable'; readonly feed: number; readonly name: string }
  | { readonly code: 'password_unset'; readonly feed: number; readonly from: string }
  | { readonly code: 'password_short'; readonly feed: number; readonly from: string; readonly least: number }
  | { readonly code: 'bad_hash'; readonly feed: number }
  | {
      readonly code: 'file_unreadable';
      readonly feed: number;
      readonly file: string;
      readonly reason: string;
    };

/** A file of feeds that cannot be used. It never holds a password. */
export class FeedsError extends Error {
  /** The name of the class, which survives a bundler. */
  override readonly name = 'FeedsError';
  /** Stable name of the problem. */
  readonly code: FeedsProblem['code'];
  /** What to write instead; null when the message says it. */
  readonly hint: string | null;

  constructor(problem: FeedsProblem, source: string) {
    const [message, hint] = feedsProblemText(problem, source);
    super(message);
    this.code = problem.code;
    this.hint = hint ?? null;
  }
}

const shape =
  '{ "timeZone": "America/New_York", "feeds": [{ "path": "/feeds/clicks.csv", "format": "google-ads-clicks", "account": "101", "window": "14d", "conversionName": "Phone lead", "user": "google", "passwordEnv": "CALLS_FEED_PASSWORD" }] }';

/** Says what is wrong in a file of feeds: the message, then what to write instead. */
function feedsProblemText(problem: FeedsProblem, source: string): [message: string, hint?: string] {
  const where = 'feed' in problem && problem.feed !== null ? `${source}: feed ${problem.feed}` : source;
  const passwords = 'use passwordEnv, passwordFile or passwordHash';
  switch (problem.code) {
    case 'not_json':
      return [`${source} is not JSON: ${problem.reason}`, `write it as ${shape}`];
    case 'no_feeds':
      return [`${source}: "feeds" must be a list of at least one feed`, `write it as ${shape}`];
    case 'not_an_object':
      return [`${where} must be an object`, `write it as ${shape}`];
    case 'unknown_name':
      return [
        `${where} has an unknown name ${JSON.stringify(problem.name)}`,
        problem.near === undefined
          ? `known names: ${problem.known.join(', ')}`
          : `did you mean ${JSON.stringify(problem.near)}?`,
      ];
    case 'missing':
      return [`${where} has no "${problem.name}"`, `write it as "${problem.name}": ${problem.example}`];
    case 'wrong_value':
      return [`${where}: "${problem.name}" must be ${problem.expected}`];
    case 'unknown_format':
      return [
        `${where}: "format" is not one that we know`,
        problem.near === undefined
          ? `known formats: ${problem.known.join(', ')}`
          : `did you mean "${problem.near}"?`,
      ];
    case 'unknown_zone':
      return [`${where}: ${JSON.stringify(problem.zone)} is not a time zone`, 'write it as America/New_York'];
    case 'no_name':
      return [`${where}: ${problem.title} needs "conversionName", spelled as in the tool`];
    case 'two_values':
      return [`${where}: give either "value" or "valueRules", not both`];
    case 'value_rules':
      return [`${where}: ${problem.message}`];
    case 'same_path':
      return [`${where} has the same path as feed ${problem.other}: ${problem.path}`];
    case 'window_too_long':
      return [
        `${where}: a window of ${problem.days} days is too long, because ${problem.title} forgets a click after ${problem.most} days`,
      ];
    case 'adds_up':
      return [
        `${where}: ${problem.title} adds what it gets, so a feed would count each call once per import`,
        'add "once": "1d" and "ledger": "uploads.ledger", so that each call is in it on one day',
      ];
    case 'ledger_alone':
      return [
        `${where} has ${problem.missing === 'once' ? '"ledger"' : '"once"'} without "${problem.missing}"`,
        'write both: "once": "1d", "ledger": "uploads.ledger"',
      ];
    case 'ledger_unusable':
      return [`${where}: the ledger ${problem.file} cannot be used: ${problem.message}`];
    case 'clear_password':
      return [`${where}: the password must not be in the file`, passwords];
    case 'many_passwords':
      return [`${where} has more than one password`, passwords];
    case 'user_alone':
      return [
        `${where} has no ${problem.missing === 'user' ? '"user"' : 'password'}`,
        problem.missing === 'user' ? undefined : passwords,
      ].filter((part) => part !== undefined) as [string, string?];
    case 'bad_variable':
      return [
        `${where}: the variable ${problem.name} must be called CALLS_..._PASSWORD, so that it is taken out of the environment`,
      ];
    case 'password_unset':
      return [`${where}: ${problem.from} holds no password`];
    case 'password_short':
      return [`${where}: the password in ${problem.from} must have at least ${problem.least} characters`];
    case 'bad_hash':
      return [`${where}: "passwordHash" is not a hash that hashPassword has made`];
    case 'file_unreadable':
      return [`${where}: cannot read ${problem.file} (${problem.reason})`];
  }
}
