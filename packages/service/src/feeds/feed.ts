import type { ConversionRules, Ledger, SheetFormat } from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import type { Access } from './access.ts';

/** Has each call in the feed in one period only, for tools that add what they get. */
export interface Once {
  /** Length of a period in milliseconds. Within it, the feed can be fetched again. */
  readonly every: number;
  /** Where it is noted which calls were in the feed. The service closes it. */
  readonly ledger: Ledger;
}

/** An upload sheet at a fixed address, which a tool fetches by itself. `readFeeds` makes feeds from a file. */
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
  /** Days before the window whose calls are read for rules about callers. Default 0. */
  readonly history?: number;
  /** Has each call in one period only, instead of repeating the window. Default: it repeats the window. */
  readonly once?: Once;
  /** Who may fetch it; null for everybody who can connect, which only this machine may. */
  readonly access: Access | null;
}

/** Where feeds read calls: a store, or anything that has them. */
export interface FeedSource {
  /**
   * The calls of an account from a time on (`YYYY-MM-DD HH:MM:SS`, as the API writes it), in order of their time.
   * `extensions` says whether calls through call extensions are wanted.
   */
  calls(account: string, from: string, extensions: boolean): AsyncIterable<Call>;
  /** What the calls of an account from a time on lack, in words; null when they are whole, or nobody knows. */
  lacks?(account: string, from: string): Promise<string | null>;
}
