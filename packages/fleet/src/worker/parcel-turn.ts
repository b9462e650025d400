import type { Client } from '@call-attribution/core';
import { FleetError } from '../errors.ts';
import { accountKey } from '../lanes/keys.ts';
import { advance, giveBack, later, parcelAt, setParcelAside } from '../lanes/lane.ts';
import type { AccountValue, LaneValue } from '../lanes/values.ts';
import type { AccountPlan, Parcel } from '../parcels/parcel.ts';
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
  const { board, target, job, holder, signal } = context;
  const began = performance.now();
  const count = { requests: 0 };
  const index = parcelAt(lane) ?? lane.next;
  let claim: ParcelClaim | null = null;
  let client: Client | null = null;

  const end = async (
    change: (value: LaneValue) => LaneValue,
    facts: Pick<ParcelEvent, 'outcome'> & Partial<Pick<ParcelEvent, 'records' | 'bytes' | 'code'>>,
  ): Promise<void> => {
    const seconds = (performance.now() - began) / 1000;
    const { requests } = count;
    context.emit({
      kind: 'parcel',
      account: account.id,
      index,
      records: 0,
      bytes: 0,
      code: null,
      requests,
      seconds,
      ...facts,
    });
    // Whoever holds the lane now has its own turn with it.
    await keepTrying<LaneValue>(context, key, (value) => (value.by === holder ? change(value) : null));
  };

  try {
    signal.throwIfAborted();
    const { parcel, bounds } = parcelOf(await context.planOf(account.id, lane.of), account.id, index);
    claim = await target.claim(account.id, parcel, holder);
    let verdict = claim.done;
    const outcome = verdict === null ? 'committed' : 'done';
    if (verdict === null) {
      client = await context.clientOf(account);
      const onPage = (): void => {
        signal.throwIfAborted();
        const newest = board.get(accountKey(account.id))?.value as AccountValue | undefined;
        if (newest?.phase === 'aside') throw new Dropped();
      };
      const { version, now } = context;
      const read = {
        job,
        account: account.id,
        parcel,
        bounds,
        claim,
        client,
        signal,
        onPage,
        holder,
        version,
        now,
      };
      verdict = await claim.commit(await readParcel(read, count));
    }
    const { records, bytes, requests } = verdict;
    await end((value) => advance(value, index, job.lanes, { records, bytes, requests }), {
      outcome,
      ...(outcome === 'committed' ? { records, bytes } : {}),
    });
    return null;
  } catch (error) {
    await claim?.drop();
    if (signal.aborted || error instanceof Dropped) {
      await end(giveBack, { outcome: 'dropped' });
      return null;
    }
    const trouble = troubleOf(error);
    const { code } = trouble;
    switch (trouble.kind) {
      case 'lost':
        await end(giveBack, { outcome: 'lost', code });
        return null;
      case 'credential':
        // Keys may have been replaced since the worker asked for them.
        if (!(await context.refused(account.id, client, began)))
          await setAsideFor(context, account.id, trouble);
        await end(giveBack, { outcome: 'dropped', code });
        return null;
      case 'target':
        await end(giveBack, { outcome: 'dropped', code });
        return trouble;
      case 'parcel':
        if (lane.tries + 1 >= job.tries) {
          await end((value) => setParcelAside(value, index, job.lanes, code), { outcome: 'aside', code });
          return null;
        }
        await end((value) => laterBy(value, trouble, retryWait(value.tries + 1)), { outcome: 'later', code });
        return null;
      default: {
        const wait = serverWait(lane.ailing === 0 ? 0 : board.now() - lane.ailing, trouble.waitMs);
        context.emit({
          kind: 'wait',
          for: trouble.kind === 'board' ? 'board' : 'server',
          seconds: wait / 1000,
        });
        await end((value) => laterBy(value, trouble, wait), { outcome: 'later', code });
        return null;
      }
    }
  }

  function laterBy(value: LaneValue, { code, kind }: Trouble, wait: number): LaneValue {
    const at = board.now();
    return later(value, { code, isTry: kind === 'parcel', at, nb: at + wait });
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
