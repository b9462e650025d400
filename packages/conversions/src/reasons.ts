/** Why a call is not a conversion, or not a row of a sheet. `reasonTexts` has a sentence for each. */
export type LeftOutReason =
  | 'no_click_id'
  | 'no_caller_number'
  | 'not_a_call_extension'
  | 'desktop_call'
  | 'unanswered'
  | 'too_short'
  | 'repeat_caller'
  | 'caller_counted'
  | 'status_not_final'
  | 'zone_missing'
  | 'time_unreadable'
  | 'time_not_in_zone'
  | 'time_twice_in_zone'
  | 'in_the_future'
  | 'click_too_old'
  | 'too_recent'
  | 'no_value'
  | 'wrong_form'
  | 'duplicate';

/** Why something that was uploaded is no longer right. */
export type Change = 'click_changed' | 'value_changed' | 'length_changed' | 'no_conversion' | 'counts_again';

/** What can be wrong in a finished sheet, as facts. */
export type SheetFault =
  /** A quote is never closed. The sheet was changed after it was made; make it again. */
  | { readonly code: 'open_quote' }
  /** The first line is not the one that the tool expects. Make the sheet again with the format of the tool. */
  | { readonly code: 'wrong_head'; readonly expected: string }
  /** A row has another number of cells than the first line. The sheet was changed after it was made; make it again. */
  | { readonly code: 'wrong_cell_count'; readonly found: number; readonly expected: number }
  /** A column holds personal data that the tool does not take. Do not upload the sheet; choose another column. */
  | { readonly code: 'personal_data'; readonly column: string }
  /** A cell does not have the form that the tool accepts. Check the rules: the name, currency and time zone. */
  | { readonly code: 'wrong_form'; readonly column: string; readonly example: string }
  /** Two rows are the same conversion. Remove one of them. */
  | { readonly code: 'repeated_row'; readonly firstLine: number };

/** Something in a finished sheet that the tool would refuse, and its line. `sheetProblemText` makes a sentence of it. */
export type SheetProblem = {
  /** 1 is the first line of the file. */
  readonly line: number;
} & SheetFault;

/** Rules of a run that make no sense for a tool, as facts. */
export type RulesProblem =
  /** The rules have no time zone, which the tool needs. Set `timeZone`. */
  | { readonly code: 'zone_missing' }
  /** The time zone does not exist. Use a name such as America/New_York. */
  | { readonly code: 'zone_unknown'; readonly zone: string }
  /** The tool needs the name of the conversion. Set `conversionName`, spelled as in the tool. */
  | { readonly code: 'name_missing' }
  /** The currency does not exist. Use a code of three letters such as USD. */
  | { readonly code: 'currency_unknown'; readonly currency: string }
  /** A number must be above 0. Correct the option that the message names. */
  | { readonly code: 'not_positive'; readonly name: string; readonly value: number }
  /** A number must be 0 or more. Correct the option that the message names. */
  | { readonly code: 'negative'; readonly name: string; readonly value: number }
  /** The window is longer than the tool remembers a click. Use a shorter one. */
  | { readonly code: 'window_too_long'; readonly days: number; readonly most: number }
  /** The minimum age is longer than the window, so that no call is left. Shorten the age or widen the window. */
  | { readonly code: 'no_age_left'; readonly hours: number; readonly days: number }
  /** The start is not a time. Write it as YYYY-MM-DD HH:MM:SS. */
  | { readonly code: 'from_unreadable' };
