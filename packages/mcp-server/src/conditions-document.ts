import { derivedFields, periodWords } from '@call-attribution/questions';

/** The language of conditions, as a resource. */
export const conditionsResource = {
  uri: 'calls://conditions',
  name: 'conditions',
  title: 'Conditions',
  description: 'The language of where, with examples.',
  mimeType: 'text/markdown',
  text: () => `# Conditions

\`where\` takes a condition on any field, as in SQL:

- \`=\`, \`<>\`, \`<\`, \`<=\`, \`>\`, \`>=\`, \`IN (...)\`, \`BETWEEN ... AND ...\`, \`LIKE\` with \`%\` and \`_\`, \`IS NULL\`, \`AND\`, \`OR\`, \`NOT\`, brackets.
- Text is in single quotes and compares without case; \`==\` compares exactly.
- Fields go by their own names or those that people use: \`campaign\`, \`keyword\`, \`landing_page\`.
- Derived fields: ${derivedFields.map(({ name }) => `\`${name}\``).join(', ')}.
- \`ani\` compares with pseudonyms of other answers, such as \`ani = 'phone-000000000000'\`; hidden fields only with \`IS NULL\`.

Examples:

- \`talk_minutes >= 2 AND state IN ('TX', 'CA')\`
- \`NOT missed AND campaign LIKE '%brand%'\`
- \`ppc_gclid IS NOT NULL AND caller_type = 'first' AND hour BETWEEN 8 AND 17\`

An error names the corrected condition. The same conditions stand in the measures \`count(...)\` and \`share(...)\`.

## Periods

${periodWords.map(({ example, meaning }) => `- \`${example}\`: ${meaning}`).join('\n')}
- \`from="28d"\`: from the midnight 28 days ago up to now
`,
};
