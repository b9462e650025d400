import { sandboxDefaults } from '../defaults.ts';
import { mix } from '../made-up/random.ts';
import { type Fault, parseFaults, type RequestKind } from './fault.ts';

/** What is known of a request before it is answered. */
export interface RequestFacts {
  readonly kind: RequestKind;
  /** The access key or bearer token that came with it. */
  readonly key: string | null;
  /** The text of its `x-sandbox-faults` header. */
  readonly header: string | null;
}

/** Faults by key, kept while the sandbox lives. */
export interface FaultBook {
  /** Sets the faults for one access key or bearer token, or for all requests with `*`; counting starts anew. */
  set(key: string, faults: string | readonly Fault[]): void;
  /** Takes back the faults of one key, or all. */
  clear(key?: string): void;
  /** What is set, by key. */
  all(): Readonly<Record<string, readonly Fault[]>>;
  /** The faults that meet this request; counts it. Throws a FaultSyntaxError for a header that cannot be read. */
  choose(facts: RequestFacts): Fault[];
}

// Each header text and key counts for itself; the oldest counts are forgotten, so that a long test run stays small.
const keptCounts = 10_000;

/** An empty book; `seed` decides what `share` draws. */
export function createFaultBook(seed: number = sandboxDefaults.seed): FaultBook {
  const book = new Map<string, readonly Fault[]>();
  const met = new Map<string, number>();

  const meets = (fault: Fault, id: string, kind: RequestKind) => {
    if (fault.on !== undefined && fault.on !== kind) return false;
    const nth = met.get(id) ?? 0;
    met.delete(id);
    met.set(id, nth + 1);
    if (met.size > keptCounts) met.delete(met.keys().next().value as string);
    const at = nth - (fault.after ?? 0);
    if (at < 0) return false;
    if (fault.every !== undefined && at % fault.every !== 0) return false;
    const turn = fault.every === undefined ? at : at / fault.every;
    if (fault.times !== undefined && turn >= fault.times) return false;
    return fault.share === undefined || mix(mix(seed) + nth) / 4294967296 < fault.share;
  };

  return {
    set(key, faults) {
      const read = typeof faults === 'string' ? parseFaults(faults) : faults;
      this.clear(key);
      book.set(key, read);
    },
    clear(key) {
      for (const name of key === undefined ? [...book.keys()] : [key]) {
        book.delete(name);
        for (const id of [...met.keys()]) if (id.startsWith(`key ${name} `)) met.delete(id);
      }
    },
    all: () => Object.fromEntries(book),
    choose({ kind, key, header }) {
      const chosen: Fault[] = [];
      const look = (faults: readonly Fault[], origin: string) => {
        faults.forEach((fault, i) => {
          if (meets(fault, `${origin} ${i}`, kind)) chosen.push(fault);
        });
      };
      look(book.get('*') ?? [], 'key *');
      if (key !== null && key !== '*') look(book.get(key) ?? [], `key ${key}`);
      if (header !== null) look(parseFaults(header), `header ${key} ${header}`);
      return chosen;
    },
  };
}
