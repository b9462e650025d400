import type { Version } from '@call-attribution/core';

/** The filter language, in Markdown. */
export function filtersText(version: Version): string {
  const extensions =
    version === 'v3'
      ? '- `inc_gce:1` adds calls made through call extensions; without it they are left out.'
      : '- v2 has no switch for call extensions.';
  return `# Filters

Most questions need only \`from\`, \`to\`, \`min_talk_minutes\` and \`include_call_extensions\`. \`q\` takes filter text instead:

- \`field:[low TO high]\` is a range. \`[\` and \`]\` include the bound, \`{\` and \`}\` exclude it, \`*\` leaves a side open.
- Parts are joined by commas, and all of them apply.
- Fields: \`date_added\` (\`YYYY-MM-DD HH:MM:SS\`) and \`talk_minutes\` (a decimal number).
${extensions}

Examples:

- One day: \`date_added:[2026-11-01 00:00:00 TO 2026-11-02 00:00:00}\`
- Talks of two minutes or more in November: \`date_added:[2026-11-01 00:00:00 TO 2026-12-01 00:00:00},talk_minutes:[2 TO *]\`

\`check_filter\` explains a filter and mends what it can. Other fields cannot be filtered by the API: list or summarize, then choose.
`;
}
