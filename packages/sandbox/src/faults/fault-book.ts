import { ConfigurationError } from '@call-attribution/core/errors';
import { type Fault, parseFaults, type RequestKind } from '@call-attribution/core/testing';
import { sandboxDefaults } from '../defaults.ts';
import { mix } from '../generate/random.ts';

/** What is known of a request before it is handled. */
export interface RequestFacts {
  /** What is requested: a list, a single record, a count or the SMS numbers. */
  readonly kind: RequestKind;
  /** The access key or bearer token of the request. */
  readonly key: string | null;
  /** The value of its `x-sandbox-faults` header. */
  readonly header: string | null;
}

/** Faults by key, which can be set and cleared while the sandbox runs. */
export interface FaultBook {
  /**
   * Sets the faults for one access key or bearer token, or for all requests with `*`. Counting
   * starts again at 0. A key that no account has is refused.
   *
   * @example
   * sandbox.faults.set('test_access_101', 'status=429, retry-after=1, times=2; latency=50ms');
   */
  set(key: string, faults: string | readonly Fault[]): void;
  /** Clears the faults of one key, or all. */
  clear(key?: string): void;
  /** What is set, by key. */
  all(): Readonly<Record<string, readonly Fault[]>>;
  /**
   * The faults that apply to this request, which is counted. Throws a `ConfigurationError` for a
   * header that cannot be read.
   */
  choose(facts: RequestFacts): Fault[];
}

// Each header value and each key is counted separately. The oldest counts are dropped, so that a
// long test run stays small.
const mostCounts = 10_000;

/** An empty book for requests with these keys, or with any; `seed` decides what `share` draws. */
export function createFaultBook(
  seed: number = sandboxDefaults.seed,
  keys: readonly string[] | null = null,
): FaultBook {
  const book = new Map<string, readonly Fault[]>();
  const counts = new Map<string, number>();

  const applies = (fault: Fault, id: string, kind: RequestKind) => {
    if (fault.on !== undefined && fault.on !== kind) return false;
    const nth = counts.get(id) ?? 0;
    counts.delete(id);
    counts.set(id, nth + 1);
    const oldest = counts.keys().next();
    if (counts.size > mostCounts && !oldest.done) counts.delete(oldest.value);
    const at = nth - (fault.after ?? 0);
    if (at < 0) return false;
    if (fault.every !== undefined && at % fault.every !== 0) return false;
    const turn = fault.every === undefined ? at : at / fault.every;
    if (fault.times !== undefined && turn >= fault.times) return false;
    return fault.share === undefined || mix(mix(seed) + nth) / 4294967296 < fault.share;
  };

  return {
    set(key, faults) {
      if (keys !== null && key !== '*' && !keys.includes(key)) throw unknownKey(key, keys);
      const read = typeof faults === 'string' ? parseFaults(faults) : faults;
      this.clear(key);
      book.set(key, read);
    },
    clear(key) {
      for (const name of key === undefined ? [...book.keys()] : [key]) {
        book.delete(name);
        for (const id of [...counts.keys()]) if (id.startsWith(`key ${name} `)) counts.delete(id);
      }
    },
    all: () => Object.fromEntries(book),
    choose({ kind, key, header }) {
      const chosen: Fault[] = [];

      const look = (faults: readonly Fault[], origin: string) => {
        faults.forEach((fault, i) => {
          if (applies(fault, `${origin} ${i}`, kind)) chosen.push(fault);
        });
      };

      look(book.get('*') ?? [], 'key *');
      if (key !== null && key !== '*') look(book.get(key) ?? [], `key ${key}`);
      if (header !== null) look(parseFaults(header), `header ${key} ${header}`);
      return chosen;
    },
  };
}

function unknownKey(key: string, keys: readonly string[]): ConfigurationError {
  const known = keys.slice(0, 4).join(', ');
  const more = keys.length > 4 ? ' and so on' : '';
  const message = `no account has the key ${JSON.stringify(key)}: expected *, ${known}${more}`;
  return new ConfigurationError('invalid_option', message);
}
