import type { Filter, Version } from './filter.ts';
import { type Problem, report } from './problem.ts';

/** Adds warnings about what is right but may not be what was meant. `filter` is what was read from `text`. */
export function warnAbout(
  text: string,
  filter: Filter,
  version: Version | undefined,
  problems: Problem[],
): void {
  for (const clause of filter.clauses) {
    if (clause.kind === 'flag') continue;
    const { field, lower, upper, start = 0, end = 0 } = clause;
    const open = start + field.length + 1;
    const warn = (code: 'any_value' | 'empty_range' | 'undocumented', message: string): void => {
      report({ text, problems }, code, open, end - open, [], undefined, message);
    };
    if (lower === null && upper === null)
      warn('any_value', `Matches every record that has a value in ${field}.`);
    if (lower !== null && lower.text === upper?.text && !(lower.inclusive && upper.inclusive)) {
      warn('empty_range', `Matches nothing: ${lower.text} itself is excluded.`);
    }
    if (version === 'v3' && (text[open] === '{' || text[end - 1] === '}')) {
      warn('undocumented', '"{" and "}" are documented for v2, not for v3.');
    }
  }
}
