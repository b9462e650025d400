import type { Version } from '@call-attribution/core';
import type { Bound, Filter } from '@call-attribution/query-dsl';

/** Says in words what a filter chooses, one line a part. */
export function explainFilter(filter: Filter, version: Version): string[] {
  const lines = filter.clauses.map((clause) =>
    clause.kind === 'flag'
      ? 'calls from call extensions are included'
      : explainRange(clause.field, clause.lower, clause.upper),
  );
  if (version === 'v3' && !filter.clauses.some((clause) => clause.kind === 'flag')) {
    lines.push('calls from call extensions are left out');
  }
  return lines.length === 0 ? ['every call'] : lines;
}

function explainRange(field: string, lower: Bound | null, upper: Bound | null): string {
  const parts = [
    ...(lower
      ? [`${lower.inclusive ? 'from' : 'above'} ${lower.text}${lower.inclusive ? ' (included)' : ''}`]
      : []),
    ...(upper
      ? [
          `${upper.inclusive ? 'up to' : 'before'} ${upper.text} (${upper.inclusive ? 'included' : 'excluded'})`,
        ]
      : []),
  ];
  return `${field} ${parts.length === 0 ? 'any' : parts.join(' ')}`;
}
