import { sandboxDefaults } from '../defaults.ts';

/** One request that the sandbox has met. */
export interface JournalEntry {
  /** Counts up from 1 over the life of the sandbox. */
  readonly number: number;
  /** Milliseconds since 1970, by the sandbox's clock. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** The query as sent, without secrets. */
  readonly query: string;
  /** The access key or bearer token: those of a sandbox are public. */
  readonly key: string | null;
  /** Status of the answer; null while none was sent. */
  readonly status: number | null;
  /** Whether the answer was sent to its end. */
  readonly complete: boolean;
  /** The faults that met it, by name. */
  readonly faults: readonly string[];
}

/** The last requests, oldest first. Older ones are forgotten, so that it never grows beyond its bound. */
export interface Journal {
  entries(): readonly JournalEntry[];
  /** How many requests there were in all, the forgotten ones too. */
  readonly total: number;
  clear(): void;
  add(entry: Omit<JournalEntry, 'number'>): void;
}

/** An empty journal that keeps at most `bound` entries. */
export function createJournal(bound: number = sandboxDefaults.journal): Journal {
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
      if (kept.length > bound) kept.shift();
    },
  };
}

const secrets = /((?:^|&)secret_access_key=)[^&]*/gi;

/** A query text with the values of its secrets taken out. */
export function withoutSecrets(query: string): string {
  return query.replace(secrets, '$1***');
}
