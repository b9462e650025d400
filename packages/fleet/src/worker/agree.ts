import type { Engine } from '../engine/engine.ts';
import { blankNote, type JobCard, type Ticket } from '../engine/ticket.ts';
import { FleetError } from '../errors.ts';
import { copyOf, differencesOf, type PlannedJob } from '../job.ts';

/** Time without a sign of life after which a worker no longer counts. */
export const livingMs = 15_000;

/** What came of comparing the job of a worker with that of the others. */
export type Agreement =
  | { readonly kind: 'agreed'; readonly card: JobCard }
  | { readonly kind: 'differs'; readonly settings: readonly string[] }
  | { readonly kind: 'cancelled' };

/**
 * Compares the job with what the engine has of it. The engine's copy is replaced when no other worker goes by it any more: that is how a
 * changed file is taken up. Nothing in the copy is ever gone by.
 */
export async function agree(
  engine: Engine,
  job: PlannedJob,
  worker: string,
  now: number,
): Promise<Agreement> {
  const mine = copyOf(job);
  const { workers } = await engine.look();
  const living = workers.filter(({ name, at }) => name !== worker && Math.abs(now - at) < livingMs);
  let isNew = false;
  const card = await engine.setCard((before) => {
    isNew = false;
    const { into, every, name } = job;
    if (before === null) return { name, state: 'running', now: false, since: now, into, every, copy: mine };
    const isSame = before.copy.digest === mine.digest;
    if (before.state === 'cancelled' || isSame) return null;
    if (living.some(({ digest }) => digest === before.copy.digest)) return null;
    isNew = true;
    return { ...before, into, every, copy: mine };
  });
  if (card === null) throw new FleetError('unknown_job', `The engine has no job ${job.name}.`);
  if (card.state === 'cancelled') return { kind: 'cancelled' };
  if (card.copy.digest !== mine.digest) return { kind: 'differs', settings: differencesOf(mine, card.copy) };
  await takeUp(engine, job, { isNew, isAlone: living.length === 0, now });
  return { kind: 'agreed', card };
}

/** How a job is taken up. */
interface TakeUp {
  /** Its file has changed. */
  readonly isNew: boolean;
  /** No other worker is at work. */
  readonly isAlone: boolean;
  readonly now: number;
}

/** Makes the tickets of a job: one for each credential. Those of accounts that were removed end; what they have read stays. */
async function takeUp(engine: Engine, job: PlannedJob, { isNew, isAlone, now }: TakeUp): Promise<void> {
  const { tickets } = await engine.look();
  const known = new Set(tickets.map(({ key }) => key));
  const missing = [...job.accounts.values()].filter(({ key }) => !known.has(key));
  await engine.put(missing.map(({ key, id }): Ticket => ({ key, account: id, dueAt: now, note: blankNote })));
  for (const { key } of tickets) if (!job.accounts.has(key)) await engine.edit(key, () => null);
  // A job that was done is read once more by whoever starts it again.
  const isOver = isAlone && missing.length === 0 && tickets.every(({ note }) => note.state !== 'open');
  if (!isNew && !isOver) return;
  for (const { key, note } of tickets)
    if (note.state !== 'aside' && job.accounts.has(key))
      await engine.edit(key, (ticket) => ({
        ...ticket,
        dueAt: now,
        note: { ...ticket.note, state: 'open' },
      }));
}

/** The error of a worker whose file is not that of the others. */
export const differs = (job: PlannedJob, settings: readonly string[]): FleetError =>
  new FleetError(
    'job_differs',
    `The job file of this worker differs from that of the other workers of ${job.name} in ${settings.join(', ')}. Give all of them the same file.`,
  );
