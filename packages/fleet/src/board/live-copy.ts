import { type Duration, durationMillis } from '@call-attribution/core/time';
import type { BoardEntry } from './board.ts';

/** The entries of a board as far as this process has heard of them. */
export class LiveCopy {
  readonly #entries = new Map<string, BoardEntry>();
  /** Keys that begin with `lane.` and with `lane.101.`, so that listing an account's lanes does not walk over all others. */
  readonly #groups = new Map<string, Set<string>>();
  readonly #waiting = new Set<() => void>();

  get(key: string): BoardEntry | undefined {
    return this.#entries.get(key);
  }

  /** The entries whose keys begin with `prefix`. Cheap for a prefix that ends with a dot. */
  *entries(prefix: string): Generator<BoardEntry> {
    const group = this.#groups.get(prefix);
    if (group === undefined && prefix.endsWith('.')) return;
    for (const key of group ?? this.#entries.keys())
      if (group !== undefined || key.startsWith(prefix)) yield this.#entries.get(key) as BoardEntry;
  }

  /** Takes an entry, unless the copy has a later one. Entries may come twice, late and in any order. */
  take(entry: BoardEntry): boolean {
    const known = this.#entries.get(entry.key);
    if (known !== undefined && known.revision > entry.revision) return false;
    this.#entries.set(entry.key, entry);
    // An own write that comes back has the time stamp of the server.
    if (known?.revision === entry.revision) return false;
    if (known === undefined) this.#group(entry.key);
    this.wake();
    return true;
  }

  /** Takes an entry although the copy has a later one: the server has lost that one. */
  correct(entry: BoardEntry): void {
    if (!this.#entries.has(entry.key)) this.#group(entry.key);
    this.#entries.set(entry.key, entry);
    this.wake();
  }

  /** Forgets a key that the server no longer has. */
  forget(key: string): void {
    if (!this.#entries.delete(key)) return;
    for (const group of this.#groups.values()) group.delete(key);
    this.wake();
  }

  /** The highest revision in it; 0 when it is empty. */
  highest(): number {
    let highest = 0;
    for (const { revision } of this.#entries.values()) highest = Math.max(highest, revision);
    return highest;
  }

  /** Ends all waits. */
  wake(): void {
    for (const go of [...this.#waiting]) go();
  }

  /** Resolves at the next change, after `within`, or with the signal. */
  changed({
    signal,
    within,
  }: {
    signal?: AbortSignal | undefined;
    within?: Duration | undefined;
  } = {}): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer =
        within === undefined ? undefined : setTimeout(() => go(), durationMillis(within, 'within'));
      const go = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', go);
        this.#waiting.delete(go);
        resolve();
      };
      signal?.addEventListener('abort', go);
      this.#waiting.add(go);
    });
  }

  #group(key: string): void {
    for (let dot = key.indexOf('.'); dot !== -1; dot = key.indexOf('.', dot + 1)) {
      const prefix = key.slice(0, dot + 1);
      const group = this.#groups.get(prefix);
      if (group === undefined) this.#groups.set(prefix, new Set([key]));
      else group.add(key);
    }
  }
}
