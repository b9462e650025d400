import { type Prompt, period } from './prompt.ts';

/** Compares the calls of two periods. */
export const comparePeriods: Prompt = {
  name: 'compare_periods',
  title: 'Compare two periods',
  description: 'What changed between two periods: calls, talk time, channels, campaigns.',
  arguments: [
    ...period,
    { name: 'before_from', description: 'First day of the earlier period, YYYY-MM-DD', required: true },
    { name: 'before_to', description: 'Last day of the earlier period, included', required: true },
    { name: 'group_by', description: 'Field or day, hour, weekday; default channel', required: false },
  ],
  write: ({ from, to, before_from: beforeFrom, before_to: beforeTo, group_by: groupBy = 'channel' }) =>
    `Compare the calls from ${from} to ${to} with those from ${beforeFrom} to ${beforeTo}.

1. summarize_calls for each period, group_by ${groupBy}, with the same limit and the same include_call_extensions.
2. If a summary says INCOMPLETE, split its period and add up the parts before you compare.
3. If the periods differ in length or in weekdays, compare calls per day and say so.

Report the change in calls, talk minutes and mean talk minutes, in all and for the groups that changed most, each with both numbers.
A change in a group of fewer than 30 calls may be chance: say so. Calls of the last days may still lack ad data.`,
};
