import type { Clause, Version } from './filter.ts';
import { type Problem, toProblem } from './problem.ts';

/** The warnings about a part that is right but may not be what was meant. */
export function warnAbout(text: string, clause: Clause, version: Version | undefined): Problem[] {
  if (clause.kind === 'flag') return [];
  const { field, lower, upper, start = 0, end = 0 } = clause;
  const warnings: Problem[] = [];
  const warn = (
    code: 'any_value' | 'empty_range' | 'undocumented',
    from: number,
    to: number,
    message: string,
  ) => {
    warnings.push(toProblem(text, code, from, to, message));
  };
  const open = start + field.length + 1;
  if (lower === null && upper === null) {
    warn('any_value', open, end, `This range takes every record that has a value in ${field}.`);
  }
  if (lower !== null && lower.text === upper?.text && !(lower.inclusive && upper.inclusive)) {
    warn('empty_range', open, end, `Nothing matches: the only value, ${lower.text}, is excluded.`);
  }
  if (version === 'v3') {
    for (const at of [open, end - 1]) {
      if (/[{}]/.test(text.charAt(at))) {
        warn('undocumented', at, at + 1, 'Exclusive bounds are documented for v2 only.');
      }
    }
  }
  return warnings;
}
