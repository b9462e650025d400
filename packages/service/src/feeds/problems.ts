import { CallsError, nameErrors } from '@call-attribution/core/errors';

/** Something in a file of feeds that cannot be used, as facts. `FeedsError` has a sentence for each. */
export type FeedsProblem =
  /** The file of feeds is not JSON. Write it as the message shows. */
  | { readonly code: 'not_json'; readonly reason: string }
  /** The file has no list of feeds. Write at least one. */
  | { readonly code: 'no_feeds' }
  /** A feed is not an object. Write it as the message shows. */
  | { readonly code: 'not_an_object'; readonly feed: number }
  /** A feed has a name that does not exist. Use the suggested one. */
  | {
      readonly code: 'unknown_name';
      readonly feed: number | null;
      readonly name: string;
      readonly near: string | undefined;
      readonly known: readonly string[];
    }
  /** A feed lacks a name that it needs. Add it as the message shows. */
  | { readonly code: 'missing'; readonly feed: number; readonly name: string; readonly example: string }
  /** A value of a feed has the wrong type or form. Write what the message says. */
  | { readonly code: 'wrong_value'; readonly feed: number; readonly name: string; readonly expected: string }
  /** There is no such format. Use one of those that the message lists. */
  | {
      readonly code: 'unknown_format';
      readonly feed: number;
      readonly near: string | undefined;
      readonly known: readonly string[];
    }
  /** The time zone does not exist. Write it as America/New_York. */
  | { readonly code: 'unknown_zone'; readonly feed: number; readonly zone: string }
  /** The tool needs the name of the conversion. Add `conversionName`, spelled as in the tool. */
  | { readonly code: 'no_name'; readonly feed: number; readonly title: string }
  /** A feed has both a value and rules for it. Keep one of the two. */
  | { readonly code: 'two_values'; readonly feed: number }
  /** The value rules of a feed cannot be used. The message says which rule is wrong. */
  | { readonly code: 'value_rules'; readonly feed: number; readonly message: string }
  /** Two feeds have the same path. Rename one of them. */
  | { readonly code: 'same_path'; readonly feed: number; readonly other: number; readonly path: string }
  /** The window is longer than the tool remembers a click. Use a shorter one. */
  | {
      readonly code: 'window_too_long';
      readonly feed: number;
      readonly days: number;
      readonly most: number;
      readonly title: string;
    }
  /** `once` and `ledger` need each other. Write both. */
  | { readonly code: 'ledger_alone'; readonly feed: number; readonly missing: 'once' | 'ledger' }
  /** The ledger cannot be opened. Check its path, and that nothing else uses it. */
  | {
      readonly code: 'ledger_unusable';
      readonly feed: number;
      readonly file: string;
      readonly message: string;
    }
  /** The tool adds what it gets, so a feed would count each call once per import. Add `once` and `ledger`. */
  | { readonly code: 'adds_up'; readonly feed: number; readonly title: string }
  /** A password is in the file. Use `passwordEnv`, `passwordFile` or `passwordHash`. */
  | { readonly code: 'clear_password'; readonly feed: number }
  /** A feed has more than one password. Keep one. */
  | { readonly code: 'many_passwords'; readonly feed: number }
  /** A user name and a password need each other. Write both. */
  | { readonly code: 'user_alone'; readonly feed: number; readonly missing: 'user' | 'password' }
  /** The variable of a password has the wrong form. Call it CALLS_..._PASSWORD, so that it is taken out of the environment. */
  | { readonly code: 'bad_variable'; readonly feed: number; readonly name: string }
  /** A variable or file holds no password. Set it. */
  | { readonly code: 'password_unset'; readonly feed: number; readonly from: string }
  /** A password is too short. Choose a longer one. */
  | { readonly code: 'password_short'; readonly feed: number; readonly from: string; readonly least: number }
  /** `passwordHash` is not a hash that `hashPassword` has made. Make it again. */
  | { readonly code: 'bad_hash'; readonly feed: number }
  /** A file of a feed cannot be read. Check its path and permissions. */
  | {
      readonly code: 'file_unreadable';
      readonly feed: number;
      readonly file: string;
      readonly reason: string;
    };

/** A file of feeds that cannot be used. It never holds a password. */
export class FeedsError extends CallsError<FeedsProblem['code']> {
  static {
    nameErrors(FeedsError, 'FeedsError');
  }

  constructor(problem: FeedsProblem, source: string) {
    const [message, hint] = feedsProblemText(problem, source);
    super(problem.code, hint === undefined ? message : { message, hint });
  }
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `FeedsError` of service. */
    FeedsError: FeedsError;
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
