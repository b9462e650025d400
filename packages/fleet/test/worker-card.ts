import type { WorkerCard } from '../src/index.ts';

/** The card of a worker that has just begun; `more` is what a test needs. */
export const workerCard = (
  name: string,
  at: number,
  more: Partial<WorkerCard> = {},
): WorkerCard => ({
  name,
  version: '1',
  slots: 4,
  accounts: [],
  state: 'working',
  why: null,
  callsPerSecond: 0,
  requestsPerSecond: 0,
  since: at,
  at,
  ...more,
});
