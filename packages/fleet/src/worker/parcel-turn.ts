import type { Client } from '@call-attribution/core';
import { FleetError } from '../errors.ts';
import { accountKey } from '../lanes/keys.ts';
import { advance, giveBack, later, parcelAt, setParcelAside } from '../lanes/lane.ts';
import type { AccountValue, LaneValue } from '../lanes/values.ts';
import type { AccountPlan, Parcel, ParcelVerdict } from '../parcels/parcel.ts';
import type { ParcelClaim } from '../target/target.ts';
import type { WorkerEvent } from './events.ts';
import { keepTrying } from './keep-trying.ts';
import { readParcel } from './read-parcel.ts';
import { setAsideFor } from './set-aside.ts';
import { retryWait, serverWait, type Trouble, troubleOf } from './trouble.ts';
import type { WorkerContext } from './turn.ts';

type ParcelEvent = Extract<WorkerEvent, { kind: 'parcel' }>;

/** The turn is over before its end, and nobody is to blame. */
class Dropped extends Error {}

/**
 * Reads the parcel at hand of a lane that this worker has taken, commits it, and gives the lane back with what comes next. Never
 * throws. Returns the trouble that keeps the whole worker from working, if any.
 */
export async function parcelTurn(
  context: WorkerContext,
  account: AccountValue,
  key: string,
  lane: LaneValue,
): Promise<Trouble | null> {
  const turn = new ParcelTurn(context, account, key, lane);
  try {
    await turn.read();
    return null;
  } catch (error) {
    await turn.claim?.drop();
    if (context.signal.aborted || error instanceof Dropped) {
      await turn.end(giveBack, { outcome: 'dropped' });
      return null;
    }
    return turn.endFor(troubleOf(error));
  }
}

class ParcelTurn {
  claim: ParcelClaim | null = null;
  readonly #context: WorkerContext;
  readonly #account: AccountValue;
  readonly #key: string;
  readonly #lane: LaneValue;
  readonly #index: number;
  readonly #began = performance.now();
  readonly #count = { requests: 0 };
  #client: Client | null = null;

  constructor(context: WorkerContext, account: AccountValue, key: string, lane: LaneValue) {
    this.#context = context;
    this.#account = account;
    this.#key = key;
    this.#lane = lane;
    this.#index = parcelAt(lane) ?? lane.next;
  }

  /** Reads and commits, unless that was done before. */
  async read(): Promise<void> {
    const { target, job, holder, signal } = this.#context;
    const index = this.#index;
    signal.throwIfAborted();
    const { id } = this.#account;
    const { parcel, bounds } = parcelOf(await this.#context.planOf(id, this.#lane.parcels), id, index);
    const claim = await target.claim(id, parcel, holder);
    this.claim = claim;
    const verdict = claim.done ?? (await this.#commit(claim, parcel, bounds));
    const { records, bytes, requests } = verdict;
    await this.end((value) => advance(value, index, job.lanes, { records, bytes, requests }), {
      outcome: claim.done === null ? 'committed' : 'done',
      ...(claim.done === null ? { records, bytes } : {}),
    });
  }

  /** Gives the lane back and says how the turn went. */
  async end(
    change: (value: LaneValue) => LaneValue,
    facts: Pick<ParcelEvent, 'outcome'> & Partial<Pick<ParcelEvent, 'records' | 'bytes' | 'code'>>,
  ): Promise<void> {
    const context = this.#context;
    context.emit({
      ...{ kind: 'parcel', account: this.#account.id, index: this.#index },
      ...{ records: 0, bytes: 0, code: null, requests: this.#count.requests },
      seconds: (performance.now() - this.#began) / 1000,
      ...facts,
    });
    // Whoever holds the lane now has its own turn with it.
    await keepTrying<LaneValue>(context, this.#key, (value) =>
      value.by === context.holder ? change(value) : null,
    );
  }

  /** The end of a turn that failed. Returns the trouble when it keeps the whole worker from working. */
  async endFor(trouble: Trouble): Promise<Trouble | null> {
    const { job, board } = this.#context;
    const { code } = trouble;
    const lane = this.#lane;
    switch (trouble.kind) {
      case 'lost':
        await this.end(giveBack, { outcome: 'lost', code });
        return null;
      case 'credential':
        // Keys may have been replaced since the worker asked for them.
        if (!(await this.#context.refused(this.#account.id, this.#client, this.#began)))
          await setAsideFor(this.#context, this.#account.id, trouble);
        await this.end(giveBack, { outcome: 'dropped', code });
        return null;
      case 'target':
        await this.end(giveBack, { outcome: 'dropped', code });
        return trouble;
      case 'parcel':
        if (lane.tries + 1 >= job.tries) {
          const aside = (value: LaneValue) => setParcelAside(value, this.#index, job.lanes, code);
          await this.end(aside, { outcome: 'aside', code });
        } else await this.#later(trouble, (value) => retryWait(value.tries + 1));
        return null;
      default: {
        const wait = serverWait(
          lane.failingSince === 0 ? 0 : board.now() - lane.failingSince,
          trouble.waitMs,
        );
        const waitsFor = trouble.kind === 'board' ? 'board' : 'server';
        this.#context.emit({ kind: 'wait', for: waitsFor, seconds: wait / 1000 });
        await this.#later(trouble, () => wait);
        return null;
      }
    }
  }

  async #commit(claim: ParcelClaim, parcel: Parcel, bounds: AccountPlan['bounds']): Promise<ParcelVerdict> {
    const { job, holder, signal, board, version, clock } = this.#context;
    const account = this.#account.id;
    const client = await this.#context.clientOf(this.#account);
    this.#client = client;
    const onPage = (): void => {
      signal.throwIfAborted();
      const newest = board.get(accountKey(account))?.value as AccountValue | undefined;
      if (newest?.phase === 'aside') throw new Dropped();
    };
    const what = { job, account, parcel, bounds, claim, client };
    return claim.commit(await readParcel({ ...what, signal, onPage, holder, version, clock }, this.#count));
  }

  #later({ code, kind }: Trouble, wait: (value: LaneValue) => number): Promise<void> {
    const change = (value: LaneValue): LaneValue => {
      const at = this.#context.board.now();
      return later(value, { code, isTry: kind === 'parcel', at, notBefore: at + wait(value) });
    };
    return this.end(change, { outcome: 'later', code });
  }
}

function parcelOf(
  plan: AccountPlan,
  account: string,
  index: number,
): { readonly parcel: Parcel; readonly bounds: AccountPlan['bounds'] } {
  const parcel = plan.parcels[index];
  if (parcel !== undefined) return { parcel, bounds: plan.bounds };
  throw new FleetError(
    'target_unfit',
    `The board has parcel ${index} of account ${account}, the target does not. They belong to different plans: plan the job again.`,
  );
}
