import { applyFix, diagnose, print } from '@call-attribution/query-dsl';
import * as z from 'zod';
import { explainFilter } from '../arguments/explain.ts';
import { counted } from '../results/words.ts';
import { cleanText, cutText } from '../untrusted/clean.ts';
import { defineTool, readsNothing } from './tool.ts';

const maxProblems = 5;

/** Explains a filter, and mends it where it can. */
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
  }),
  annotations: readsNothing,
  async run({ q }, { version }) {
    const { filter, problems, warnings } = diagnose(q, { version });
    const shown = [...problems, ...warnings].slice(0, maxProblems).map((problem) => ({
      message: cutText(problem.message, 300),
      at: problem.start,
      found: cutText(cleanText(problem.found), 80),
      ...(problem.expected.length > 0 ? { expected: problem.expected.slice(0, 6) } : {}),
      ...(problem.fix ? { fixed: cutText(applyFix(q, problem) ?? '', 600) } : {}),
    }));
    const listed = shown.length > 0 ? { problems: shown } : {};
    if (problems.length > 0) {
      return {
        summary: `The filter has ${counted(problems.length, 'error', 'errors')}; do not send it.`,
        valid: false,
        ...listed,
      };
    }
    const meaning = explainFilter(filter, version);
    return {
      summary: `The filter is valid: ${meaning.join('; ')}.`,
      valid: true,
      filter: print(filter),
      meaning,
      ...listed,
    };
  },
});
