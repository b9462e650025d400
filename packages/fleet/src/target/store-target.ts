import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { SyncOutcome } from '@call-attribution/node-stream';
import { parse } from '@call-attribution/query-dsl';
import {
  type CallSelection,
  type Claim,
  mirrorSink,
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

function storeTarget(store: Store, given: PinnedJob | null): Target {
  const { name } = store;
  let job = given;
  let known: Promise<ReadonlySet<string>> | undefined;
  const jobName = (): string => {
    if (job !== null) return job.name;
    throw new FleetError('unknown_job', `${name} was opened without a job, so nothing can be planned there.`);
  };
  /** Claims and changes what is noted, again until nobody claimed the same in between. */
  const change = async <T>(account: string, what: string, work: (claim: Claim) => Promise<T>): Promise<T> => {
    for (;;) {
      const claim = await store.claim(account, what, `process ${process.pid} on ${hostname()}`);
      try {
        return await work(claim);
      } catch (error) {
        if (!isLost(error)) throw error;
      }
      await delay(Math.random() * 50);
    }
  };
  const putAccount = async (account: JobAccount): Promise<void> => {
    known ??= store.accounts().then((all) => new Set(all.map(({ id }) => id)));
    // An account that has a name keeps it when the job has none.
    if (account.name === undefined && (await known).has(account.id)) return;
    await store.putAccount({ id: account.id, name: account.name ?? account.id });
  };
  const noted = async (account: string, what: string): Promise<unknown> =>
    (await store.notes(account, what)).find((note) => note.name === what)?.note ?? null;
  const planIn = (note: unknown, account: string): AccountPlan | null =>
    note === null ? null : unpackPlan(note as PlanRecord, account, job?.name ?? null, name);

  const pinned = async (wanted: string): Promise<PinnedJob | null> => {
    for await (const line of store.journal(journalOf(wanted)).read()) return readPinned(line, name);
    return null;
  };
  /** The job that an account was planned for, also where it is only looked at. */
  const jobs = new Map<string, Promise<PinnedJob | null>>();
  const jobOf = (account: string): Promise<PinnedJob | null> => {
    const found = jobs.get(account) ?? plannedFor(account);
    jobs.set(account, found);
    return found;
  };
  const plannedFor = async (account: string): Promise<PinnedJob | null> => {
    const note = (await noted(account, 'plan')) as PlanRecord | null;
    return note === null ? null : pinned(note.job);
  };
  /** The records of a stretch that the job is about; null when the store cannot tell them from others. */
  const selectionIn = async (
    account: string,
    from: string | null,
    to: string,
  ): Promise<CallSelection | null> => {
    const about = job ?? (await jobOf(account));
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
  };

  const target: Target = {
    name,
    async pin(wanted) {
      // A journal has no account, and one writer at a time.
      const journal = store.journal(journalOf(wanted.name));
      for (;;) {
        for await (const line of journal.read()) {
          job = readPinned(line, name);
          return job;
        }
        try {
          await journal.append(writePinned(wanted));
        } catch (error) {
          if (!isLost(error)) throw error;
        }
      }
    },
    async plan(account, make) {
      await putAccount(account);
      const kept = await target.planOf(account.id);
      if (kept !== null) return kept;
      const made = await make();
      return change(account.id, 'plan', async (claim) => {
        const first = planIn(claim.note, account.id);
        if (first !== null) return first;
        await store.commitClaimed(claim, { calls: [], note: packPlan(jobName(), account.id, made) });
        return made;
      });
    },
    planOf: async (account) => planIn(await noted(account, 'plan'), account),
    async continuePlan(account, before, after) {
      if ((await target.planOf(account)) === null) throw noPlan(account, name);
      return change(account, 'plan', async (claim) => {
        const kept = planIn(claim.note, account) as AccountPlan;
        if (!isSamePlan(kept, before)) return kept;
        await store.commitClaimed(claim, { calls: [], note: packPlan(jobName(), account, after) });
        return after;
      });
    },
    async claim(account, parcel, holder) {
      const selection = await selectionIn(account, parcel.from, parcel.to);
      const claim = await store.claim(account, parcelName(parcel), holder);
      const rows = () => (selection === null ? [] : store.calls(account, selection));
      return storeClaim(store, claim, { skip: job?.skip === true, rows });
    },
    async reopen(account, parcel) {
      // Whoever reads a parcel that was never committed keeps it.
      if (verdictOf(await noted(account, parcelName(parcel))) === null) return;
      await change(account, parcelName(parcel), async (claim) => {
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
      const selection = await selectionIn(account, from, to);
      return selection === null ? null : store.count(account, selection);
    },
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
  return target;
}

const journalOf = (job: string): string => `fleet ${job}`;
const parcelPrefix = 'parcel ';
const parcelName = ({ from }: { readonly from: string | null }): string =>
  `${parcelPrefix}${from ?? 'start'}`;
