import type { Prompt } from './prompt.ts';

/** Says whether a call can be uploaded to an ad platform as a conversion. */
export const conversionEligibility: Prompt = {
  name: 'conversion_eligibility',
  title: 'Conversion eligibility',
  description: 'Whether a call, or the calls of a day, can be uploaded as ad conversions, and why not.',
  arguments: [
    { name: 'sid', description: 'One call; or give a day', required: false },
    { name: 'day', description: 'YYYY-MM-DD', required: false },
    { name: 'min_talk_minutes', description: 'Shortest talk that counts as a conversion', required: false },
  ],
  write: ({ sid, day, min_talk_minutes: minutes = '1' }) => {
    const which = sid === undefined ? `the calls of ${day ?? 'yesterday'}` : `the call ${sid}`;
    const first =
      sid === undefined
        ? `1. list_calls for that day with min_talk_minutes ${minutes}, include_call_extensions true and fields timing, ads. Fetch every page.`
        : `1. get_call for it with fields timing, attribution, ads.`;
    return `Check whether ${which} can be uploaded to an ad platform as conversions.

${first}
2. A call qualifies when the talk took at least ${minutes} minutes and there is a click id: ppc_gclid, or a click id in first_touch.
3. ppc_status "Processed" is final. "Not Processed" and "Waiting For Keyword" may still change: put those calls on hold, not out.
4. Most platforms take a click for 90 days: compare displayed_timestamp with date_added.

Give a table of sid, date_added, talk_minutes, click id yes or no, ppc_status and verdict (upload, hold, no) with the reason.
Say that an upload needs a time zone, which the API does not name: ask the user for it.`;
  },
};
