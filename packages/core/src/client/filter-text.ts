import {
  diagnose,
  dialects,
  type FilterInput,
  FilterSyntaxError,
  printFilter,
  toFilter,
} from '@call-attribution/query-dsl';
import type { Version } from '../record/fields.ts';

/** A filter as it is sent, and as errors and events may show it. */
export interface FilterText {
  readonly q: string | undefined;
  readonly shownQ: string | undefined;
}

/**
 * The value of `q`, in its canonical form. A string that is not a filter is refused here, before a lenient server can
 * ignore it and send everything; so is a misspelled name of a field. Other fields that this project does not know are for
 * the server to judge; such a filter is not shown, because it may name a caller.
 */
export function filterText(input: FilterInput | undefined, version: Version): FilterText {
  if (typeof input === 'string') return fromString(input, version);
  if (input === undefined) return textOf('', true);
  const { fields } = dialects[version];
  const filter = toFilter(input);
  return textOf(
    printFilter(filter),
    filter.clauses.every(({ field }) => Object.hasOwn(fields, field)),
  );
}

function fromString(input: string, version: Version): FilterText {
  const { filter, problems } = diagnose(input, { version });
  const problem = problems.find(
    ({ code, suggestions }) => code !== 'unknown_field' || suggestions.length > 0,
  );
  if (problem) throw new FilterSyntaxError(problem);
  return problems.length === 0 ? textOf(printFilter(filter), true) : textOf(input.trim(), false);
}

const textOf = (text: string, isKnown: boolean): FilterText => {
  const q = text || undefined;
  return { q, shownQ: isKnown ? q : '…' };
};
