import { zoneNote } from '../results/words.ts';

/** What the API text leaves open and what follows for anyone who reads numbers, in Markdown. Ids as in docs/assumptions.md. */
export function assumptionsText(timeZone: string | undefined): string {
  return `# Assumptions

The text of the API leaves these points open. Say so when an answer hangs on one of them.

- A01 Time zone: ${zoneNote(timeZone)} Days and hours are those of the text.
- A02 recording: not described; treated as a link to a recording, and masked.
- A04 ppc_status: "Not Processed" and "Waiting For Keyword" may still change; ad data of recent calls may be missing.
- A05 Filters: only date_added, talk_minutes and inc_gce are known to work.
- A08 Counting in v3: the API has no count request there; the number comes from a one-row list and count_calls says so.
- A12 Page size: not described; a server that gives fewer rows than asked is followed, and the summary says what was given.
- A15 Order: not described; rows usually come oldest first. Do not take the first row for the oldest without looking.
- A20 Channels: web visits are "Tracker" or a product name, ads with a number are "Call Extension".
`;
}
