import type { FieldSpec, Version } from '@call-attribution/core';
import { fieldsOf } from '../fields/select.ts';
import { isRevealed, maskingOf, type Reveal } from '../privacy/classes.ts';

/** The field dictionary, in Markdown, from the one field table. */
export function fieldsText(all: readonly FieldSpec[], version: Version, reveal: ReadonlySet<Reveal>): string {
  const lines = [
    `# Fields of a call record (${version})`,
    '',
    'Empty text and missing values are shown as null.',
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
    ...(spec.personal && !isRevealed(reveal, maskingOf(spec.name).revealedBy) ? ['masked'] : []),
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
