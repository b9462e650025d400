import type { Call } from '@call-attribution/core';

/** Why a call is not in the sheet. */
export type Reason =
  | 'no_click_id'
  | 'no_caller_number'
  | 'not_a_call_extension'
  | 'click_too_old'
  | 'status_not_final'
  | 'desktop_call'
  | 'too_recent'
  | 'in_the_future'
  | 'zone_missing'
  | 'time_unreadable'
  | 'time_not_in_zone'
  | 'time_twice_in_zone'
  | 'no_value'
  | 'duplicate';

/** What each reason means and what can be done, in one line. */
export const reasonTexts: Readonly<Record<Reason, string>> = {
  no_click_id: 'no click id of this tool in the record or its addresses',
  no_caller_number: 'no caller number that can be written as +country number',
  not_a_call_extension: 'not a call through a call extension, which is all the tool can match by number',
  click_too_old: 'the click is older than 90 days',
  status_not_final: 'attribution is not finished; export again later',
  desktop_call: 'the tool does not take calls that began at a desktop',
  too_recent: 'too recent, the tool does not know the click yet; export again later',
  in_the_future: 'the call lies in the future: is the time zone right?',
  zone_missing: 'no time zone given',
  time_unreadable: 'the time of the call cannot be read',
  time_not_in_zone: 'the time does not exist in the zone (clock change in spring)',
  time_twice_in_zone: 'the time exists twice in the zone (clock change in autumn)',
  no_value: 'no value rule matches',
  duplicate: 'the same click, name and time is already in the sheet',
};

/** What the person decided for the whole sheet. */
export interface SheetOptions {
  /** Zone the API writes its times in. Null leaves every call out as `zone_missing`. */
  readonly timeZone: string | null;
  /** Conversion action, goal or type, spelled as in the tool. */
  readonly conversionName: string;
  /** Value of a call; null means no rule matches, undefined that the sheet carries no values. */
  readonly value?: (call: Call) => number | null;
  readonly currency?: string;
  /** The present, in milliseconds. */
  readonly now: number;
  /** Youngest age taken, in milliseconds, instead of what the tool asks for. */
  readonly minAge?: number;
  /** What a time that exists twice means. Default: it is left out. */
  readonly repeatedHour?: 'leave-out' | 'first' | 'second';
}

/** A row of the sheet, or the reason why there is none. `key` is what the tool tells duplicates by. */
export type Outcome = { readonly row: readonly string[]; readonly key: string } | { readonly reason: Reason };

/** One fault in a finished sheet. */
export interface SheetProblem {
  /** 1 is the first line of the file. */
  readonly line: number;
  readonly message: string;
}

/** One upload format: pure functions, so that a sheet can be made and proved without a server. */
export interface SheetFormat {
  readonly name: string;
  /** How the tool calls it. */
  readonly title: string;
  readonly delimiter: ',' | '\t';
  /** Whether the conversion name is part of the sheet. */
  readonly needsName: boolean;
  /** Whether calls through call extensions have to be asked for. */
  readonly needsExtensions: boolean;
  /** What to know before uploading, shown after the export. */
  readonly notes: readonly string[];
  /** The lines above the rows. */
  head(options: SheetOptions): readonly (readonly string[])[];
  /** The row of one call. */
  row(call: Call, options: SheetOptions): Outcome;
  /** Every fault of a finished sheet, in file order; none when the tool would read it. */
  validate(text: string, options: SheetOptions): readonly SheetProblem[];
}
