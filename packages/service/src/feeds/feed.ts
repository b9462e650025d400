import type { ConversionRules, Ledger, SheetFormat } from '@call-attribution/conversions';
import { ConfigurationError } from '@call-attribution/core/errors';
import type { DateOrder, Plan } from '@call-attribution/questions';
import type { Access } from '../http/access.ts';
import { reachedBy } from '../http/passwords.ts';

/** Has each call in the feed in one period only, for tools that add what they get. */
export interface Once {
  /** Length of a period in milliseconds. Within it, the feed can be fetched again. */
  readonly every: number;
  /** Where it is noted which calls were in the feed. The service closes it. */
  readonly ledger: Ledger;
}

/** Where the outcomes of a feed are. */
export interface FeedOutcomes {
  /** The path of the file, which is read each time that the sheet is made. */
  readonly path: string;
  /** The order of its dates; null where the file tells. */
  readonly dates: DateOrder | null;
  /** How many milliseconds a call may lie before its outcome. */
  readonly window: number;
}

/** What all feeds have: an address that programs fetch by themselves. */
export interface FeedAddress {
  /** The path of its address, which ends in `.csv` or `.tsv`. */
  readonly path: string;
  /** The account whose calls it has. */
  readonly account: string;
  /** Has each call in one period only; null for a feed that repeats what it has. */
  readonly once: Once | null;
  /** Who may fetch it; null for everybody who can connect, which only this machine may. */
  readonly access: Access | null;
}

/** An upload sheet, which a bid tool fetches. */
export interface SheetFeed extends FeedAddress {
  /** The format of the sheet. */
  readonly format: SheetFormat;
  /** How many days it reaches back. */
  readonly days: number;
  /** Which calls count, and at what value. */
  readonly rules: Omit<ConversionRules, 'now' | 'from'>;
  /** Files of what calls became, which are the conversions then; null where calls are. */
  readonly outcomes: FeedOutcomes | null;
  /** Days before the window whose calls are read for rules about callers, and for outcomes. */
  readonly history: number;
}

/** A report, which a spreadsheet fetches. */
export interface ReportFeed extends FeedAddress {
  readonly once: null;
  /** The report. */
  readonly report: FeedReport;
}

/** A report of the configuration file, as feeds serve it. */
export interface FeedReport {
  /** Its name. */
  readonly name: string;
  /** What it asks at a time, in milliseconds since 1970, of the calls of an account. */
  plan(account: string, now: number): Promise<Plan>;
}

/** A feed: an upload sheet or a report. `readFeeds` makes feeds from a file. */
export type Feed = SheetFeed | ReportFeed;

/** Refuses to offer a feed without a password to other machines. */
export function refuseOpenFeeds(
  { feeds, proxies }: { readonly feeds: readonly Feed[]; readonly proxies: readonly string[] },
  host: string,
): void {
  const open = feeds.find(({ access }) => access === null);
  const by = reachedBy(host, proxies);
  if (open === undefined || by === null) return;
  throw new ConfigurationError(
    'invalid_option',
    `The feed ${open.path} has no password, and others can reach it ${by}. Give it "user" and "passwordEnv", or listen on 127.0.0.1.`,
  );
}
