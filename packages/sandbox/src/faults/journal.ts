import { sandboxDefaults } from '../defaults.ts';

/** One request to the API of a sandbox. */
export interface JournalEntry {
  /** Counts up from 1 while the sandbox runs. */
  readonly number: number;
  /** When the response ended, in milliseconds since 1970 by the clock of the sandbox. */
  readonly at: number;
  /** The HTTP method. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The query as sent, without secrets. */
  readonly query: string;
  /** The access key; `bearer` for a bearer token, which is a secret. */
  readonly key: string | null;
  /** Status of the response; null when none was sent. */
  readonly status: number | null;
  /** Was the response sent to its end? */
  readonly complete: boolean;
  /** The faults that were applied, such as `status=429, retryAfter=1`. */
  readonly faults: readonly string[];
}

/** The last requests, oldest first. It keeps a limited number of them. */
export interface Journal {
  /** The requests that are kept. */
  entries(): readonly JournalEntry[];
  /** The number of requests so far, including those that are no longer kept. */
  readonly total: number;
  /** Removes all entries and counts from 0 again. */
  clear(): void;
  /** Adds a request. */
  add(entry: Omit<JournalEntry, 'number'>): void;
}

/** An empty journal that keeps at most `most` entries. */
export function createJournal(most: number = sandboxDefaults.journal): Journal {
  let kept: JournalEntry[] = [];
  let total = 0;
  return {
    entries: () => [...kept],
    get total() {
      return total;
    },
    clear() {
      kept = [];
      total = 0;
    },
    add(entry) {
      total += 1;
      kept.push({ number: total, ...entry });
      if (kept.length > most) kept.shift();
    },
  };
}

/** A query with the values of its secrets removed, whatever names they have been given. */
export function withoutSecrets(query: string): string {
  return query
    .split('&')
    .map((part) => {
      const [name = ''] = part.split('=', 1);
      const isSecret = /secret|token|password|bearer|authorization/i.test(plainName(name));
      return isSecret && part !== name ? `${name}=***` : part;
    })
    .join('&');
}

/** A name as a server reads it; one that cannot be decoded is taken as it is. */
const plainName = (name: string): string =>
  new URLSearchParams(`${name}=`).keys().next().value ?? name;
