import type { Engine } from '../engine/engine.ts';
import { blankNote, type Ticket } from '../engine/ticket.ts';
import { FleetError } from '../errors.ts';
import { digestOf, type PlannedJob } from '../job.ts';

/** Time without a sign of life after which a worker no longer counts. */
export const livingMs = 15_000;

/**
 * Makes a job known to the engine, with a ticket for each credential. Another job file replaces the one that the engine knows only
 * when no worker goes by that any more. Throws `job_differs` otherwise.
 */
export async function joinJob(engine: Engine, job: PlannedJob, worker: string, now: number): Promise<void> {
  const { name, into, every, accounts } = job;
  const digest = digestOf(job);
  const { workers } = await engine.look();
  const living = workers.filter((other) => other.name !== worker && Math.abs(now - other.at) < livingMs);
  let isNew = false;
  const card = await engine.setCard((before) => {
    isNew = false;
    if (before === null) return { name, since: now, into, every, digest };
    if (before.digest === digest || living.some((other) => other.digest === before.digest)) return null;
    isNew = true;
    return { ...before, into, every, digest };
  });
  if (card?.digest !== digest)
    throw new FleetError(
      'job_invalid',
      `Workers of ${name} go by another job file than this one. Stop all of them, then start them with the edited file.`,
    );
  const { tickets } = await engine.look();
  const known = new Set(tickets.map(({ key }) => key));
  const missing = [...accounts.values()].filter(({ key }) => !known.has(key));
  await engine.put(missing.map(({ key, id }): Ticket => ({ key, account: id, dueAt: now, note: blankNote })));
  // What removed accounts have read stays.
  for (const { key } of tickets) if (!accounts.has(key)) await engine.edit(key, () => null);
  // A job that was done is read once more by whoever starts it again.
  const isOver =
    living.length === 0 && missing.length === 0 && tickets.every(({ note }) => note.state !== 'open');
  if (!isNew && !isOver) return;
  for (const { key, note } of tickets) {
    if (note.state === 'aside' || !accounts.has(key)) continue;
    const open = (ticket: Ticket): Ticket => ({
      ...ticket,
      dueAt: now,
      note: { ...ticket.note, state: 'open' },
    });
    await engine.edit(key, open);
  }
}
