import type { LeftOutReason, SheetProblem, ValueRulesProblem } from './reasons.ts';

/** What each reason means and what can be done about it, in one line. */
export const reasonTexts: Readonly<Record<LeftOutReason, string>> = {
  no_click_id: 'neither the record nor the URLs of the visit have a click ID of this tool',
  no_caller_number: 'the caller number cannot be written as + and country code',
  not_a_call_extension: 'not a call through a call extension; the tool can match no others by number',
  desktop_call: 'the call began on a desktop; the tool does not take such calls',
  unanswered: 'nobody answered the call',
  too_short: 'the talk is shorter than the minimum talk time',
  repeat_caller: 'the caller has called before; only first calls count',
  caller_counted: 'another call of this caller counts already in this span of days',
  status_not_final: 'attribution is not finished; export again later',
  zone_missing: 'no time zone was given',
  time_unreadable: 'the time of the call cannot be read',
  time_not_in_zone: 'the time does not exist in the time zone: the clocks were set forward past it',
  time_twice_in_zone: 'the time exists twice in the time zone: the clocks were set back',
  in_the_future: 'the call is in the future; check the time zone',
  click_too_old: 'the click is older than the tool accepts',
  too_recent: 'too recent: the tool does not know the click yet; export again later',
  no_value: 'no value rule applies',
  duplicate: 'the sheet already has a row with the same click or number, name and time',
};

/** Says what is wrong in a sheet, without the line number and without the content of the cell. */
export function sheetProblemText(problem: SheetProblem): string {
  switch (problem.code) {
    case 'open_quote':
      return 'a quote is never closed';
    case 'wrong_head':
      return `expected the line ${problem.expected}`;
    case 'wrong_cell_count':
      return `expected ${problem.expected} cells, found ${problem.found}`;
    case 'personal_data':
      return `${problem.column} holds personal data`;
    case 'wrong_form':
      return `${problem.column} must look like ${problem.example}`;
    case 'repeated_row':
      return `the row repeats line ${problem.firstLine}`;
  }
}

const shape =
  'write it as { "rules": [{ "minMinutes": 10, "campaign": "Brand*", "value": 120 }], "otherwise": 20 }';

/** Says what is wrong in a rule table: the message, then what to write instead. */
export function valueRulesText(problem: ValueRulesProblem, source: string): [message: string, hint?: string] {
  const where = 'rule' in problem && problem.rule !== null ? `${source}: rule ${problem.rule}` : source;
  switch (problem.code) {
    case 'not_json':
      return [`${source} is not JSON: ${problem.reason}`, shape];
    case 'not_an_object':
      return [`${where} must be an object`, shape];
    case 'rules_not_a_list':
      return [`${source}: "rules" must be a list`, shape];
    case 'unknown_name':
      return [
        `${where} has an unknown name ${JSON.stringify(problem.name)}`,
        problem.near === undefined
          ? `known names: ${problem.known.join(', ')}`
          : `did you mean ${JSON.stringify(problem.near)}?`,
      ];
    case 'not_an_amount':
      return [`${where}: ${JSON.stringify(problem.name)} must be a number, 0 or greater`];
    case 'not_a_string':
      return [`${where}: ${JSON.stringify(problem.name)} must be a string`];
    case 'value_missing':
      return [`${where} has no "value"`, shape];
  }
}
