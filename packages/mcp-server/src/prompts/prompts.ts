/** A prompt that users can pick in their host. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  /** Writes the message. Required arguments are present; others may be missing. */
  write(args: Readonly<Record<string, string>>): string;
}

const period = [
  { name: 'from', description: 'First day, YYYY-MM-DD', required: true },
  { name: 'to', description: 'Last day, YYYY-MM-DD, included', required: true },
];

/** Finds calls whose attribution is missing, uncertain or late. */
const attributionAudit: Prompt = {
  name: 'attribution_audit',
  title: 'Attribution audit',
  description: 'Which calls of a period have missing, uncertain or late attribution, and what to fix first.',
  arguments: [
    ...period,
    { name: 'ppc_status', description: 'Look only at calls with this status', required: false },
  ],
  write: ({ from, to, ppc_status: status }) => {
    const range = `from ${from} to ${to}`;
    const examples = `where ${status === undefined ? 'ppc_campaign IS NULL' : `ppc_status = '${status.replaceAll("'", "''")}'`}, rows 5`;
    return `Audit the attribution of the calls ${range}. Each step is one call:

1. analyze_calls ${range}, calls all, group_by is_extension: website calls and calls through call extensions.
2. analyze_calls ${range}, group_by channel, rank. A rank of 1 is the surest match to a web visit, 5 the least sure.
3. analyze_calls ${range}, group_by ppc_status. "Not Processed" and "Waiting For Keyword" may still change; do not count them as lost.
4. analyze_calls ${range}, where ppc_campaign IS NULL, group_by activity_type, last_touch_domain.
5. list_calls ${range}, ${examples}, with fields summary, activity_type_id, last_touch_domain, url_tag, displayed_timestamp.

Report the share of calls with a sure match, with an uncertain one and with none; the three causes that affect most calls; and what to fix first.
Give the number of calls for each share, and say which answers were incomplete.`;
  },
};

/** Says whether a call can be uploaded to an ad platform as a conversion. */
const conversionEligibility: Prompt = {
  name: 'conversion_eligibility',
  title: 'Conversion eligibility',
  description: 'Whether a call, or the calls of a day, can be uploaded as ad conversions, and why not.',
  arguments: [
    { name: 'sid', description: 'One call; or give a day', required: false },
    { name: 'day', description: 'YYYY-MM-DD', required: false },
    { name: 'min_talk_minutes', description: 'Shortest talk that counts as a conversion', required: false },
  ],
  write: ({ sid, day, min_talk_minutes: minutes = '1' }) => {
    const fields = 'sid, date_added, talk_minutes, displayed_timestamp, first_touch, ppc_gclid, ppc_status';
    const which = sid === undefined ? `the calls of ${day ?? 'yesterday'}` : `the call ${sid}`;
    const least = `where talk_minutes >= ${minutes}`;
    const first =
      sid === undefined
        ? `1. list_calls from ${day ?? 'yesterday'} to ${day ?? 'yesterday'}, ${least}, calls all, rows 100, fields ${fields}. Fetch every page.`
        : `1. get_call ${sid} with fields ${fields}.`;
    return `Check whether ${which} can be uploaded to an ad platform as conversions.

${first}
2. A call qualifies when the talk lasted at least ${minutes} minutes and there is a click id: ppc_gclid, or gclid, gbraid, wbraid or msclkid in first_touch.
3. ppc_status "Processed" is final. "Not Processed" and "Waiting For Keyword" may still change: put those calls on hold, do not reject them.
4. Most platforms accept a click for 90 days. The click is as old as the days from displayed_timestamp to the day of the upload, which is today unless the user says otherwise (describe_data says what day it is).

Give a table of sid, date_added, talk_minutes, click id (yes or no), age of the click in days, ppc_status and verdict (upload, hold, no) with the reason.
Say that an upload needs a time zone: use the one of describe_data, or ask the user for it.`;
  },
};

/** Compares the calls of two periods. */
const comparePeriods: Prompt = {
  name: 'compare_periods',
  title: 'Compare two periods',
  description: 'What changed between two periods: calls, talk time, channels, campaigns.',
  arguments: [
    ...period,
    { name: 'before_from', description: 'First day of the earlier period, YYYY-MM-DD', required: true },
    { name: 'before_to', description: 'Last day of the earlier period, included', required: true },
    { name: 'group_by', description: 'Field, hour or weekday; default channel', required: false },
  ],
  write: ({ from, to, before_from: beforeFrom, before_to: beforeTo, group_by: groupBy = 'channel' }) =>
    `Compare the calls from ${from} to ${to} with those from ${beforeFrom} to ${beforeTo}.

1. analyze_calls from ${from} to ${to}, compare ${beforeFrom}..${beforeTo}, group_by ${groupBy}, measures calls, missed_rate, talk_sum, callers: each measure with its value before and its change, and the totals.
2. If the answer says that it is not finished, make the call that it names before you compare.
3. If the periods differ in length or in weekdays, compare calls per day and say so.

Report the change in calls, talk minutes, missed calls and callers, in total and for the groups that changed most, each with both numbers.
A change in a group of fewer than 30 calls may be chance: say so. Calls of the last days may still lack ad data.`,
};

/** Every prompt, in the order that users see them. */
export const prompts: readonly Prompt[] = [attributionAudit, conversionEligibility, comparePeriods];
