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

/** What the tool would refuse in a row, as facts. */
export type SheetFault =
  | { readonly code: 'personal_data'; readonly column: string }
  | { readonly code: 'wrong_form'; readonly column: string; readonly example: string };

/** What the tool would refuse in a row, and its line. */
export type SheetProblem = {
  /** 1 is the first line of the file. */
  readonly line: number;
} & SheetFault;
