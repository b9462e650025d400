import { createHash } from 'node:crypto';
import { type Call, isFinalStatus, isTooDeep } from '@call-attribution/core/record';
import type { SyncChange } from './sync-change.ts';
import type { SyncSettings } from './sync-options.ts';
import type { SeenRecord, SyncState } from './sync-state.ts';

/** What a sync remembers of records, to tell which are new, changed or the same. */
export class SeenRecords {
  readonly #seen: Map<string, SeenRecord>;
  readonly #pending: Map<string, SeenRecord>;
  readonly #ignored: ReadonlySet<string>;
  readonly #options: SyncSettings;
  readonly #compares: boolean;

  /** @param compares somebody else compares the records: only open ones are remembered, and without their contents. */
  constructor(state: SyncState | null, options: SyncSettings, compares: boolean) {
    this.#compares = compares;
    this.#seen = new Map(compares ? [] : state?.seen.map((record) => [record[0], record]));
    this.#pending = new Map(state?.pending.map((record) => [record[0], record]));
    this.#ignored = new Set(options.ignore);
    this.#options = options;
  }

  /** Says what a record is, and remembers it. `recheck`: it is from before the lookback, where only open ones are kept. */
  async meet(call: Call, recheck: boolean): Promise<SyncChange> {
    const { isFinal = ({ ppc_status }) => isFinalStatus(ppc_status), recall } = this.#options;
    const known = this.#seen.get(call.sid) ?? this.#pending.get(call.sid);
    const hash = this.#compares ? '' : contentHash(call, this.#ignored);
    const record: SeenRecord = [call.sid, call.date_added, hash];
    if (!recheck && !this.#compares) this.#seen.set(call.sid, record);
    this.#pending.delete(call.sid);
    if (!isFinal(call)) this.#pending.set(call.sid, record);
    if (known === undefined || this.#compares) return { kind: 'new', call };
    if (known[2] === record[2]) return { kind: 'same', call };
    const before = (await recall?.(call.sid)) ?? null;
    return before === null ? { kind: 'changed', call } : { kind: 'changed', call, before };
  }

  /** Forgets records from before these times; open ones are kept longer. Naive times sort as strings. */
  forget(seenBefore: string, pendingBefore: string): void {
    for (const [sid, [, date]] of this.#seen) if (date < seenBefore) this.#seen.delete(sid);
    for (const [sid, [, date]] of this.#pending) if (date < pendingBefore) this.#pending.delete(sid);
  }

  /** Forgets a record that the server no longer has, or that was removed here. */
  forgetOne(sid: string): void {
    this.#seen.delete(sid);
    this.#pending.delete(sid);
  }

  /** Open records of some times. */
  openIn(isIn: (date: string) => boolean): string[] {
    return [...this.#pending.values()].filter(([, date]) => isIn(date)).map(([sid]) => sid);
  }

  /** What goes into the state. */
  toState(): Pick<SyncState, 'seen' | 'pending'> {
    return { seen: [...this.#seen.values()], pending: [...this.#pending.values()] };
  }
}

/** The fields of a record in order of their names, without those to ignore, each with the start of its entry. */
interface HashPlan {
  readonly names: readonly string[];
  readonly ignored: ReadonlySet<string>;
  readonly entries: readonly { readonly name: string; readonly start: string }[];
}

/** A server sends all its records with the same names in the same order, so they are sorted once. */
let lastPlan: HashPlan = { names: [], ignored: new Set(), entries: [] };

/** A hash of the contents of a record, whatever the order of its fields. */
function contentHash(call: Call, ignored: ReadonlySet<string>): string {
  const names = Object.keys(call);
  const isSame =
    names.length === lastPlan.names.length && names.every((name, i) => name === lastPlan.names[i]);
  if (!isSame || lastPlan.ignored !== ignored) {
    const kept = names.filter((name) => !ignored.has(name)).sort((a, b) => (a < b ? -1 : 1));
    const entries = kept.map((name, i) => ({
      name,
      start: `${i === 0 ? '' : ','}[${JSON.stringify(name)},`,
    }));
    lastPlan = { names, ignored, entries };
  }
  const record = call as unknown as Readonly<Record<string, unknown>>;
  let text = '[';
  for (const { name, start } of lastPlan.entries)
    text += `${start}${isTooDeep(record[name]) ? '"nested too deep"' : (JSON.stringify(record[name]) ?? 'null')}]`;
  return createHash('sha256').update(`${text}]`).digest('base64url').slice(0, 16);
}
