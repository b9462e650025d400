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
  const q = sentText(input, version);
  const isPlain = q === undefined || diagnose(q, { version }).problems.length === 0;
  return { q, shownQ: isPlain ? q : '…' };
}

function sentText(input: FilterInput | undefined, version: Version): string | undefined {
  if (input === undefined) return undefined;
  if (typeof input !== 'string') return print(toFilter(input)) || undefined;
  const { filter, problems } = diagnose(input, { version });
  const problem = problems.find(({ code }) => code !== 'unknown_field');
  if (problem) throw new FilterSyntaxError(problem);
  return (problems.length > 0 ? input.trim() : print(filter)) || undefined;
}
