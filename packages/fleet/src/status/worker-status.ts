import type { Board } from '../board/board.ts';
import { plainOf, type Seen, workersOn } from '../lanes/board-values.ts';
import type { WorkerValue } from '../lanes/values.ts';

/** A worker as the board knows it. */
export interface WorkerStatus {
  /** Its name. */
  readonly name: string;
  /** The machine it runs on. */
  readonly host: string;
  /** Its release. */
  readonly version: string;
  /** `silent`: no sign of life for longer than a worker may be silent; its lanes are free. */
  readonly state: WorkerValue['state'] | 'silent';
  /** Why it rests, in one sentence; null otherwise. */
  readonly why: string | null;
  /** Parcels that it may read at the same time. */
  readonly slots: number;
  /** Parcels that it reads. */
  readonly busy: number;
  /** Event loop utilization, from 0 to 1. */
  readonly load: number;
  /** Memory in bytes. */
  readonly rss: number;
  /** Milliseconds since its last sign of life. */
  readonly silentFor: number;
  /** Records a second over the last minute that was seen; null after a single look. */
  readonly recordsPerSecond: number | null;
  /** The same of requests. */
  readonly requestsPerSecond: number | null;
}

/** Remembers what was seen at earlier looks. */
export interface RateMemory {
  /** Records and requests a second of a worker; null until two of its signs of life were seen. */
  rateOf(name: string, seen: Seen<WorkerValue>): { records: number; requests: number } | null;
}

interface Sample {
  readonly at: number;
  readonly beat: number;
  readonly records: number;
  readonly requests: number;
}

/** Over how many milliseconds a rate is measured. */
const span = 60_000;

/** A memory of the signs of life of the last minute. */
export function rateMemory(): RateMemory {
  const known = new Map<string, Sample[]>();
  return {
    rateOf(name, { value, at }) {
      let samples = known.get(name) ?? [];
      const last = samples.at(-1);
      // A worker that was started again counts from 0.
      if (last && (value.records < last.records || value.beat < last.beat)) samples = [];
      if (at > (samples.at(-1)?.at ?? Number.NEGATIVE_INFINITY))
        samples.push({ at, beat: value.beat, records: value.records, requests: value.requests });
      while (samples.length > 2 && (samples[1]?.at ?? 0) <= at - span) samples.shift();
      known.set(name, samples);
      const [first, newest] = [samples[0], samples.at(-1)];
      if (!first || !newest || newest.at <= first.at) return null;
      const seconds = (newest.at - first.at) / 1000;
      return {
        records: (newest.records - first.records) / seconds,
        requests: (newest.requests - first.requests) / seconds,
      };
    },
  };
}

/** How long those who stopped are still listed, in milliseconds. */
const forgotten = 3_600_000;

/** The workers in the order of their names, without those that left in peace or have been silent for an hour. */
export function readWorkers(board: Board, now: number, ttl: number, memory: RateMemory): WorkerStatus[] {
  const workers: WorkerStatus[] = [];
  for (const [token, seen] of workersOn(board)) {
    const { value, at } = seen;
    const silentFor = Math.max(0, now - at);
    if (value.state === 'gone' || silentFor >= forgotten) continue;
    const isSilent = silentFor >= ttl;
    const rate = memory.rateOf(token, seen);
    workers.push({
      name: plainOf(token),
      host: value.host,
      version: value.version,
      state: isSilent ? 'silent' : value.state,
      why: isSilent ? null : value.why,
      slots: value.slots,
      busy: isSilent ? 0 : value.busy,
      load: value.elu / 1000,
      rss: value.rss,
      silentFor,
      recordsPerSecond: isSilent ? 0 : (rate?.records ?? null),
      requestsPerSecond: isSilent ? 0 : (rate?.requests ?? null),
    });
  }
  return workers.sort((a, b) => (a.name < b.name ? -1 : 1));
}
