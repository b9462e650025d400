import { hour, naiveAt } from '@call-attribution/core/time';
import type { AccountStatus } from '../question/answer.ts';
import { shownMoment } from '../question/measures.ts';

const none = { calls: 0, first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };

/**
 * What was seen of each account: how many calls, and when the first and the last came, in naive
 * milliseconds.
 */
export class SeenAccounts {
  readonly #seen = new Map<string, typeof none>();
  /** How many calls there were in each hour of all accounts, by its number since 1970. */
  readonly #hours = new Map<number, number>();

  #of(account: string): typeof none {
    const seen = this.#seen.get(account) ?? { ...none };
    this.#seen.set(account, seen);
    return seen;
  }

  /** Sees so many calls with these times. */
  add(account: string, calls: number, times: Iterable<number>): void {
    const seen = this.#of(account);
    seen.calls += calls;

    // Most calls are of the same hour as the one before.
    let at = Number.NaN;
    let ofHour = 0;
    for (const time of times) {
      if (time < seen.first) seen.first = time;
      if (time > seen.last) seen.last = time;
      const own = Math.floor(time / hour);
      if (own !== at) {
        this.#addHour(at, ofHour);
        at = own;
        ofHour = 0;
      }

      ofHour += 1;
    }

    this.#addHour(at, ofHour);
  }

  #addHour(at: number, calls: number): void {
    if (!Number.isNaN(at)) this.#hours.set(at, (this.#hours.get(at) ?? 0) + calls);
  }

  /** Sees what another one has seen, which may be calls without a time alone. */
  merge(other: SeenAccounts): void {
    for (const [account, { calls, first, last }] of other.#seen) {
      const seen = this.#of(account);
      seen.calls += calls;
      seen.first = Math.min(seen.first, first);
      seen.last = Math.max(seen.last, last);
    }

    for (const [at, calls] of other.#hours) this.#addHour(at, calls);
  }

  /** How many calls there were in each hour, by its number since 1970, on the clock of the records. */
  get hours(): ReadonlyMap<number, number> {
    return this.#hours;
  }

  /** The accounts in order. Nothing is known of when they were synced. */
  statuses(): AccountStatus[] {
    const text = (millis: number) => (Number.isFinite(millis) ? shownMoment(millis) : null);
    return [...this.#seen]
      .map(([account, { calls, first, last }]) => ({
        account,
        calls,
        first: text(first),
        last: text(last),
        since: null,
        storedAt: null,
        syncedAt: null,
      }))
      .sort((a, b) => (a.account < b.account ? -1 : 1));
  }

  /**
   * Until when the calls of an account are known, on the clock of its records: its last sync,
   * otherwise its last call.
   */
  endOf(account: string, known: readonly AccountStatus[], timeZone: string | null): number | null {
    const syncedAt = known.find((status) => status.account === account)?.syncedAt;
    if (syncedAt && timeZone !== null) return naiveAt(Date.parse(syncedAt), timeZone);
    const { last } = this.#seen.get(account) ?? none;
    return Number.isFinite(last) ? last : null;
  }
}
