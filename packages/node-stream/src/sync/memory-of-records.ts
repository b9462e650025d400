import { type Call, isFinalStatus } from '@call-attribution/core';
import { contentHash } from './content-hash.ts';
import type { SyncChange, SyncOptions } from './sync-options.ts';
import type { SeenRecord, SyncState } from './sync-state.ts';

/** What a sync remembers of records, so that it can tell new from changed from same. */
export class MemoryOfRecords {
  readonly #seen: Map<string, SeenRecord>;
  readonly #pending: Map<string, SeenRecord>;
  readonly #ignored: ReadonlySet<string>;
  readonly #options: SyncOptions;

  constructor(state: SyncState | null, options: SyncOptions) {
    this.#seen = new Map(state?.seen.map((record) => [record[0], record]));
    this.#pending = new Map(state?.pending.map((record) => [record[0], record]));
    this.#ignored = new Set(options.ignore);
    this.#options = options;
  }

  /** Tells what a record is, and remembers it. `recheck`: it lies before the lookback, where only open ones are kept. */
  async meet(call: Call, recheck: boolean): Promise<SyncChange> {
    const { isFinal = ({ ppc_status }) => isFinalStatus(ppc_status), recall } = this.#options;
    const known = this.#seen.get(call.sid) ?? this.#pending.get(call.sid);
    const record: SeenRecord = [call.sid, call.date_added, contentHash(call, this.#ignored)];
    if (!recheck) this.#seen.set(call.sid, record);
    this.#pending.delete(call.sid);
    if (!isFinal(call)) this.#pending.set(call.sid, record);
    if (known === undefined) return { kind: 'new', call };
    if (known[2] === record[2]) return { kind: 'same', call };
    const before = (await recall?.(call.sid)) ?? null;
    return before === null ? { kind: 'changed', call } : { kind: 'changed', call, before };
  }

  /** Forgets what lies before both times; open records are kept longer. Times are texts, which sort as they are. */
  forget(seenBefore: string, pendingBefore: string): void {
    for (const [sid, [, date]] of this.#seen) if (date < seenBefore) this.#seen.delete(sid);
    for (const [sid, [, date]] of this.#pending) if (date < pendingBefore) this.#pending.delete(sid);
  }

  /** The server has this record no more. */
  lose(sid: string): void {
    this.#pending.delete(sid);
  }

  /** Open records from before a time: those a read of the lookback does not meet. */
  openBefore(time: string): string[] {
    return [...this.#pending.values()].filter(([, date]) => date < time).map(([sid]) => sid);
  }

  /** The part of the state that is memory. */
  toState(): Pick<SyncState, 'seen' | 'pending'> {
    return { seen: [...this.#seen.values()], pending: [...this.#pending.values()] };
  }
}
