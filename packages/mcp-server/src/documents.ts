import type { FieldSpec, Version } from '@call-attribution/core';
import { derivedFields, periodWords } from '@call-attribution/questions';
import { fieldsOf } from './fields.ts';
import { agentsSee, type Reveal } from './privacy/mask.ts';

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
    ...(agentsSee(spec, reveal) === 'shown' ? [] : [agentsSee(spec, reveal)]),
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

/** The language of conditions. */
export function conditionsDocument(): string {
  return `# Conditions

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
`;
}
