import { safeParse } from '@call-attribution/query-dsl';
import { parseNaive } from '../time/naive.ts';

/** A period of which a copy has only the calls of a filter; with no ends it is all of the copy. */
export interface CopyScope {
  /** Where it begins; null for an open end. */
  readonly from: string | null;
  /** Where it ends, included; null for an open end. */
  readonly to: string | null;
  /** The filter, in the language of `q`. */
  readonly filter: string;
}

/**
 * The header of lists and counts of a service whose copy was filled with a filter. Responses of the
 * API itself do not have it.
 */
export const scopeHeader = 'x-calls-only';

/** Programs take all headers of a response together up to some 16 kB. */
const mostBytes = 4096;

/**
 * Writes the value of that header; null where a copy has all calls. Of very many filters it has the
 * first ones.
 */
export function formatScopes(scopes: readonly CopyScope[]): string | null {
  let kept = scopes.map(({ filter, from, to }) => ({ filter, from, to }));
  let text = asciiOf(kept);
  while (text.length > mostBytes && kept.length > 1) {
    kept = kept.slice(0, Math.floor(kept.length / 2));
    text = asciiOf(kept);
  }

  if (kept.length === 0) return null;
  return text.length > mostBytes ? asciiOf([{ filter: unknown, from: null, to: null }]) : text;
}

const asciiOf = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[^ -~]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** What stands for a filter that is not one. */
const unknown = '…';

/**
 * Reads the header; empty without one. Nothing of it is passed on but filters and times: it comes
 * from a server, and people and assistants read it.
 */
export function parseScopes(header: string | undefined): readonly CopyScope[] {
  if (header === undefined) return [];
  const timeOf = (value: unknown): string | null =>
    typeof value === 'string' && !Number.isNaN(parseNaive(value)) ? value : null;

  let given: unknown;
  try {
    given = JSON.parse(header);
  } catch {}

  const list = Array.isArray(given) && given.length > 0 ? given.slice(0, 100) : [null];
  return list.map((one) => {
    const { filter, from, to } = Object(one) as Readonly<Record<string, unknown>>;
    const read = safeParse(typeof filter === 'string' ? filter : '', { version: 'v3' });
    const isFilter = read.ok && read.filter.clauses.length > 0;
    return { filter: isFilter ? String(filter) : unknown, from: timeOf(from), to: timeOf(to) };
  });
}
