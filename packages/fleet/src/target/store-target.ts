import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { SyncOutcome } from '@call-attribution/node-stream';
import { parse } from '@call-attribution/query-dsl';
import {
  type Claim,
  mirrorSink,
  type NumericFilter,
  openStore,
  type Store,
  StoreError,
  type StoreOptions,
  selectionOf,
} from '@call-attribution/store';
import { FleetError } from '../errors.ts';
import type { JobAccount, PinnedJob } from '../job/job.ts';
import type { AccountPlan } from '../parcels/parcel.ts';
import { readPinned, writePinned } from './pinned-record.ts';
import { isSamePlan, noPlan, type PlanRecord, packPlan, unpackPlan } from './plan-record.ts';
import { fenced, isLost, type ParcelNote, storeClaim, verdictOf } from './store-claim.ts';
import type { Target } from './target.ts';

/**
 * A database as a target. Records are rows of its accounts; the job is the first line of a journal, plans and verdicts are notes of
 * claims, so that each is written in one transaction with what it says. Who claimed last writes.
 */
export async function openStoreTarget(
  into: string,
  job: PinnedJob | null,
  options: StoreOptions = {},
): Promise<Target> {
  return storeTarget(await openStore(into, options), job);
}

function storeTarget(store: Store, job: PinnedJob | null): Target {
  const place = new StorePlace(store, job);
  return {
    name: store.name,
    ...planMethods(place),
    ...parcelMethods(place),
    sync(account, holder) {
      const sink = mirrorSink(store, account, holder);
      return {
        compares: true,
        load: () => fenced(sink.load()),
        commit: (batch) => fenced(sink.commit(batch) as Promise<SyncOutcome | undefined>),
      };
    },
    inspect: async () => null,
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** A store with the job whose records it takes, and what is known of others. */
class StorePlace {
  readonly store: Store;
  /** The job, once it is pinned or when it was given. */
  job: PinnedJob | null;
  /** The jobs that accounts were planned for, also where they are only looked at. */
  readonly #jobs = new Map<string, Promise<PinnedJob | null>>();
  #known: Promise<ReadonlySet<string>> | undefined;

  constructor(store: Store, job: PinnedJob | null) {
    this.store = store;
    this.job = job;
  }

  get name(): string {
    return this.store.name;
  }

  jobName(): string {
    if (this.job !== null) return this.job.name;
    const message = `${this.name} was opened without a job, so nothing can be planned there.`;
    throw new FleetError('unknown_job', message);
  }

  async pinned(wanted: string): Promise<PinnedJob | null> {
    for await (const line of this.store.journal(journalOf(wanted)).read()) return readPinned(line, this.name);
    return null;
  }

  async putAccount(account: JobAccount): Promise<void> {
    this.#known ??= this.store.accounts().then((all) => new Set(all.map(({ id }) => id)));
    // An account that has a name keeps it when the job has none.
    if (account.name === undefined && (await this.#known).has(account.id)) return;
    await this.store.putAccount({ id: account.id, name: account.name ?? account.id });
  }

  async noted(account: string, what: string): Promise<unknown> {
    return (await this.store.notes(account, what)).find((note) => note.name === what)?.note ?? null;
  }

  planIn(note: unknown, account: string): AccountPlan | null {
    return note === null ? null : unpackPlan(note as PlanRecord, account, this.job?.name ?? null, this.name);
  }

  async planOf(account: string): Promise<AccountPlan | null> {
    return this.planIn(await this.noted(account, 'plan'), account);
  }

  /** Claims and changes what is noted, again until nobody claimed the same in between. */
  async change<T>(account: string, what: string, work: (claim: Claim) => Promise<T>): Promise<T> {
    for (;;) {
      const claim = await this.store.claim(account, what, `process ${process.pid} on ${hostname()}`);
      try {
        return await work(claim);
      } catch (error) {
        if (!isLost(error)) throw error;
      }
      await delay(Math.random() * 50);
    }
  }

  /** The records of a stretch that the job is about; null when the store cannot tell them from others. */
  async selectionIn(account: string, from: string | null, to: string): Promise<NumericFilter | null> {
    const about = this.job ?? (await this.#jobOf(account));
    const { filter = '', version = 'v3' } = about ?? {};
    const range = {
      kind: 'range',
      field: 'date_added',
      lower: from === null ? null : { text: from, inclusive: true },
      upper: { text: to, inclusive: false },
    } as const;
    const { clauses } = parse(filter, { version });
    try {
      // Where nothing was planned everything counts.
      const extensions = about === null || version === 'v2';
      return selectionOf({ clauses: [range, ...clauses] }, { extensions });
    } catch (error) {
      if (error instanceof StoreError && error.code === 'unfit_filter') return null;
      throw error;
    }
  }

  #jobOf(account: string): Promise<PinnedJob | null> {
    const found = this.#jobs.get(account) ?? this.#plannedFor(account);
    this.#jobs.set(account, found);
    return found;
  }

  async #plannedFor(account: string): Promise<PinnedJob | null> {
    const note = (await this.noted(account, 'plan')) as PlanRecord | null;
    return note === null ? null : this.pinned(note.job);
  }
}

function planMethods(place: StorePlace) {
  const { store, name } = place;
  return {
    async pin(wanted) {
      // A journal has no account, and one writer at a time.
      const journal = store.journal(journalOf(wanted.name));
      for (;;) {
        for await (const line of journal.read()) {
          place.job = readPinned(line, name);
          return place.job;
        }
        try {
          await journal.append(writePinned(wanted));
        } catch (error) {
          if (!isLost(error)) throw error;
        }
      }
    },
    async plan(account, make) {
      await place.putAccount(account);
      const kept = await place.planOf(account.id);
      if (kept !== null) return kept;
      const made = await make();
      return place.change(account.id, 'plan', async (claim) => {
        const first = place.planIn(claim.note, account.id);
        if (first !== null) return first;
        const note = packPlan(place.jobName(), account.id, made);
        await store.commitClaimed(claim, { calls: [], note });
        return made;
      });
    },
    planOf: (account) => place.planOf(account),
    async continuePlan(account, before, after) {
      if ((await place.planOf(account)) === null) throw noPlan(account, name);
      return place.change(account, 'plan', async (claim) => {
        const kept = place.planIn(claim.note, account) as AccountPlan;
        if (!isSamePlan(kept, before)) return kept;
        const note = packPlan(place.jobName(), account, after);
        await store.commitClaimed(claim, { calls: [], note });
        return after;
      });
    },
  } satisfies Partial<Target>;
}

function parcelMethods(place: StorePlace) {
  const { store } = place;
  return {
    async claim(account, parcel, holder) {
      const selection = await place.selectionIn(account, parcel.from, parcel.to);
      const claim = await store.claim(account, parcelName(parcel), holder);
      const rows = () => (selection === null ? [] : store.calls(account, selection));
      return storeClaim(store, claim, { skip: place.job?.skip === true, rows });
    },
    async reopen(account, parcel) {
      // Whoever reads a parcel that was never committed keeps it.
      if (verdictOf(await place.noted(account, parcelName(parcel))) === null) return;
      await place.change(account, parcelName(parcel), async (claim) => {
        const verdict = verdictOf(claim.note);
        if (verdict === null) return;
        const note: ParcelNote = { reopened: verdict };
        await store.commitClaimed(claim, { calls: [], note });
      });
    },
    async *verdicts(account) {
      for (const { note } of await store.notes(account, parcelPrefix)) {
        const verdict = verdictOf(note);
        if (verdict !== null) yield verdict;
      }
    },
    async count(account, from, to) {
      const selection = await place.selectionIn(account, from, to);
      return selection === null ? null : store.count(account, selection);
    },
  } satisfies Partial<Target>;
}

const journalOf = (job: string): string => `fleet ${job}`;
const parcelPrefix = 'parcel ';
const parcelName = ({ from }: { readonly from: string | null }): string =>
  `${parcelPrefix}${from ?? 'start'}`;
