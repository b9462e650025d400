import { unmatchedTexts } from '@call-attribution/questions';

/**
 * What each reason for which nothing is said about a call, or a conversion is taken back, means and
 * what can be done about it, in one line.
 */
export const reasonTexts = {
  no_click_id: 'neither the record nor the URLs of the visit have a click ID that can be used here',
  no_caller_number: 'the caller number cannot be written as + and country code',
  no_consent: 'the caller has not agreed, or the number may not be used and there is no click ID',
  consent_denied: 'the caller has not agreed, and the tool has no place to say so',
  not_a_call_extension:
    'not a call through a call extension; the tool can match no others by number',
  desktop_call: 'the call began on a desktop; the tool does not take such calls',
  unanswered: 'nobody answered the call',
  too_short: 'the talk is shorter than the minimum talk time',
  repeat_caller: 'the caller has called before; only first calls count',
  caller_counted: 'another call of this caller counts already in this span of days',
  status_not_final: 'attribution is not finished; run this again later',
  zone_missing: 'no time zone was given',
  time_unreadable: 'the time of the call cannot be read',
  time_not_in_zone: 'the time does not exist in the time zone: the clocks were set forward past it',
  time_twice_in_zone: 'the time exists twice in the time zone: the clocks were set back',
  in_the_future: 'the call is in the future; check the time zone',
  click_too_old: 'the click is older than the tool accepts',
  too_recent: 'too recent: the tool does not know the click yet; run this again later',
  no_value: 'no value rule applies',
  not_chosen: 'it does not meet the condition "where"',
  wrong_form: 'the click ID or another value does not have the form that the tool accepts',
  duplicate: 'the sheet already has a row with the same click or number, name and time',
  sent_before: 'it was uploaded before, as it is',
  ...unmatchedTexts,
  excluded: 'the configuration excludes it',
  cancelled: 'it was cancelled or refunded, or is worth 0',
  other_conversion: 'the file gives it to a conversion of another name',
  older_row: 'a newer row of it was read before',
  not_in_files: 'it is in no file any more, and the files are complete',
  uncertain: 'the answer to its upload was lost: nobody knows whether the tool has it',
} as const;

/** Why nothing is said about a call. `reasonTexts` has a sentence for each. */
export type LeftOutReason = keyof typeof reasonTexts;

/** What is no longer right of something that was uploaded, in one line each. */
export const correctionTexts = {
  click_changed: 'the call now belongs to another click or has another time or name',
  value_changed: 'the call now has another value',
  no_conversion: 'the call is not a conversion any longer',
  now_excluded: 'the configuration excludes the call now, which takes nothing back',
  consent_withdrawn: 'the caller no longer agrees, or it is not known any more',
  counts_again:
    'the call counts again after it was retracted, and tools ignore a conversion that was retracted',
} as const;

/** What is no longer right of something that was uploaded. */
export type Correction = keyof typeof correctionTexts;
