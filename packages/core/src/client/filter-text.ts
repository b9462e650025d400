import { diagnose, FilterSyntaxError, print, toFilter } from '@call-attribution/query-dsl';
import type { Version } from '../version.ts';
import type { FilterInput } from './client.ts';

/** A filter as it is sent, and as errors and events may show it. */
export interface FilterText {
  readonly q: string | undefined;
  readonly shownQ: string | undefined;
}

/**
 * The text of `q`, canonical where the filter language knows it. A text that is no filter is refused here, before a
 * lenient server can ignore it and send everything. Fields this project does not know are left for the server to judge;
 * such a filter is not shown, for it may name a caller.
 */
export function filterText(input: FilterInput | undefined, version: Version): FilterText {
  const isText = typeof input === 'string';
  const text = isText ? input : print(toFilter(input === undefined ? '' : input));
  const { filter, problems } = diagnose(text, { version });
  const problem = isText && problems.find(({ code }) => code !== 'unknown_field');
  if (problem) throw new FilterSyntaxError(problem);
  const isKnown = problems.length === 0;
  const q = (isKnown ? print(filter) : text.trim()) || undefined;
  return { q, shownQ: isKnown ? q : '…' };
}
