import type { ConversionRules, Ledger, SheetFormat } from '@call-attribution/conversions';
import { ConfigurationError } from '@call-attribution/core/errors';
import type { DateOrder } from '@call-attribution/questions';
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

/**
 * An upload sheet at a fixed address, which a tool fetches by itself. `readFeeds` makes feeds from
 * a file.
 */
export interface Feed {
  /** The path of its address, which ends in `.csv` or `.tsv`. */
  readonly path: string;
  /** The format of the sheet. */
  readonly format: SheetFormat;
  /** The account whose calls it has. */
  readonly account: string;
  /** How many days it reaches back. */
  readonly days: number;
  /** Which calls count, and at what value. */
  readonly rules: Omit<ConversionRules, 'now' | 'from'>;
  /** Files of what calls became, which are the conversions then; null where calls are. */
  readonly outcomes: FeedOutcomes | null;
  /** Days before the window whose calls are read for rules about callers, and for outcomes. */
  readonly history: number;
  /** Has each call in one period only; null for a feed that repeats its window. */
  readonly once: Once | null;
  /** Who may fetch it; null for everybody who can connect, which only this machine may. */
  readonly access: Access | null;
}

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
