import type { FieldSpec, Version } from '@call-attribution/core';
import { fieldsOf } from '../fields/select.ts';
import { isRevealed, maskingOf, type Reveal } from '../privacy/masking.ts';
import { zoneNote } from '../text/notes.ts';

// The resources that agents read, in Markdown.

/** The field dictionary, from the field table. */
export function fieldsDocument(
  all: readonly FieldSpec[],
  version: Version,
  reveal: ReadonlySet<Reveal>,
): string {
  const lines = [
    `# Fields of a call record (${version})`,
    '',
    'Empty strings and missing values are shown as null.',
  ];
  const groups = [...new Set(all.map((spec) => spec.group))];
  for (const group of groups) {
    lines.push('', `## ${group}`, '');
    for (const spec of fieldsOf(all, version).filter((each) => each.group === group)) {
      lines.push(`- \`${spec.name}\`${marksOf(spec, reveal)}: ${spec.meaning}${valuesOf(spec)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function marksOf(spec: FieldSpec, reveal: ReadonlySet<Reveal>): string {
  const marks = [
    ...(spec.personal && !isRevealed(reveal, maskingOf(spec).revealedBy) ? ['masked'] : []),
    ...(spec.visitorText ? ['visitor text'] : []),
    ...(spec.filterable ? ['filterable'] : []),
    ...(spec.deprecated ? ['deprecated'] : []),
  ];
  return marks.length === 0 ? '' : ` (${marks.join(', ')})`;
}

function valuesOf(spec: FieldSpec): string {
  if (!spec.values) return '';
  const values = spec.values.map((value, i) => {
    const meaning = spec.valueMeanings?.[i];
    return meaning === undefined ? String(value) : `${value} ${meaning}`;
  });
  return ` Values: ${values.join(', ')}.`;
}

/** The filter language. */
export function filtersDocument(version: Version): string {
  const extensions =
    version === 'v3'
      ? '- `inc_gce:1` adds calls made through call extensions; without it they are left out.'
      : '- v2 has no switch for call extensions.';
  return `# Filters

Most questions need only \`from\`, \`to\`, \`calls\` and \`min_talk_minutes\`. \`q\` takes filter text of the API instead:

- \`field:[low TO high]\` is a range. \`[\` and \`]\` include the bound, \`{\` and \`}\` exclude it, \`*\` leaves a side open.
- Clauses are separated by commas. A call must match all of them.
- Fields: \`date_added\` (\`YYYY-MM-DD HH:MM:SS\`) and \`talk_minutes\` (a decimal number).
${extensions}

Examples:

- One day: \`date_added:[2026-11-01 00:00:00 TO 2026-11-02 00:00:00}\`
- Talks of two minutes or more in November: \`date_added:[2026-11-01 00:00:00 TO 2026-12-01 00:00:00},talk_minutes:[2 TO *]\`

An error names the corrected filter. The API cannot filter by other fields; \`where\` of a server with a local copy can.
`;
}

/** What the API leaves open and what follows for anyone who reads numbers. Ids as in docs/assumptions.md. */
export function assumptionsDocument(timeZone: string | undefined): string {
  return `# Assumptions

The description of the API leaves these points open. Say so when an answer depends on one of them.

- A01 Time zone: ${zoneNote(timeZone)} Days and hours are those of the times as sent.
- A02 recording: not described; treated as a link to a recording, and masked.
- A04 ppc_status: "Not Processed" and "Waiting For Keyword" may still change; ad data of recent calls may be missing.
- A05 Filters: only date_added, talk_minutes and inc_gce are known to work.
- A08 Counting in v3: the API has no count request there; the number comes from a one-row list, so two requests may see two moments.
- A12 Page size: not described; a server that sends fewer rows than requested is followed, and the summary says what it sent.
- A15 Order: not described; rows usually come oldest first. Do not assume that the first row is the oldest.
- A20 Channels: web visits are "Tracker" or a product name, ads with a number are "Call Extension".
`;
}
