import type { Version } from '@call-attribution/core';
import { applyFix, type Bound, diagnose, type Filter, print } from '@call-attribution/query-dsl';
import * as z from 'zod';
import { counted } from '../text/notes.ts';
import { cutText, quotable } from '../text/untrusted.ts';
import { defineTool, readsNothing } from './tool.ts';

const maxProblems = 5;

/** Explains a filter and fixes it where it can. */
export const checkFilter = defineTool({
  name: 'check_filter',
  title: 'Check a filter',
  description: 'Explains filter text for q, its errors and their fixes.',
  input: z.object({ q: z.string().max(4000) }),
  output: z.object({
    summary: z.string(),
    valid: z.boolean(),
    filter: z.string().optional(),
    meaning: z.array(z.string()).optional(),
    problems: z.array(z.any()).optional(),
    fixed: z.string().optional(),
  }),
  annotations: readsNothing,
  async run({ q }, { version }) {
    const { filter, problems, warnings } = diagnose(q, { version });
    const shown = [...problems, ...warnings].slice(0, maxProblems).map((problem) => ({
      message: cutText(problem.message, 300),
      at: problem.start,
      found: quotable(problem.found, 80),
      ...(problem.expected.length > 0 ? { expected: problem.expected.slice(0, 6) } : {}),
    }));
    const withProblems = shown.length > 0 ? { problems: shown } : {};
    const [first] = problems;
    if (first !== undefined) {
      const fixed = applyFix(q, first);
      return {
        summary: `The filter has ${counted(problems.length, 'error', 'errors')}; do not send it.`,
        valid: false,
        ...withProblems,
        ...(fixed === undefined ? {} : { fixed: cutText(fixed, 600) }),
      };
    }
    const meaning = explainFilter(filter, version);
    return {
      summary: `The filter is valid: ${meaning.join('; ')}.`,
      valid: true,
      filter: print(filter),
      meaning,
      ...withProblems,
    };
  },
});

/** Says in words which calls a filter matches, one line per clause. */
function explainFilter(filter: Filter, version: Version): string[] {
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
    ...(lower ? [lower.inclusive ? `from ${lower.text} (included)` : `above ${lower.text}`] : []),
    ...(upper
      ? [upper.inclusive ? `up to ${upper.text} (included)` : `before ${upper.text} (excluded)`]
      : []),
  ];
  return `${field} ${parts.length === 0 ? 'any' : parts.join(' ')}`;
}
