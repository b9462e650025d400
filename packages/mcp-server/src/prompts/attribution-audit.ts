import { type Prompt, period } from './prompt.ts';

/** Finds calls whose attribution is missing, doubtful or late. */
export const attributionAudit: Prompt = {
  name: 'attribution_audit',
  title: 'Attribution audit',
  description: 'Which calls of a period have missing, doubtful or late attribution, and what to fix first.',
  arguments: [...period, { name: 'ppc_status', description: 'Look into this state only', required: false }],
  write: ({
    from,
    to,
    ppc_status: status,
  }) => `Audit the attribution of the calls from ${from} to ${to}. Work in this order:

1. count_calls with include_call_extensions true and again without it: how many calls there are, and how many came through call extensions.
2. summarize_calls by channel and rank. A rank of 1 is the surest match to a web visit, 5 the least sure.
3. summarize_calls by ppc_status. "Not Processed" and "Waiting For Keyword" may still change; do not count them as lost.
4. summarize_calls by activity_type_id and by last_touch_domain, for calls without a campaign.
5. list_calls for a few examples of each problem${status === undefined ? '' : ` where ppc_status is "${status}"`}, with fields summary and attribution.

Report: the share of calls with a sure match, with a doubtful one and with none; the three causes with most calls; what to fix first.
Give the number of calls behind every share, say which summaries were incomplete, and say that the API names no time zone.`,
};
