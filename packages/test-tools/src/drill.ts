import { appendFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { afterAll, afterEach } from 'vitest';

/** What happens to the product in a drill. */
export type DrillKind =
  | 'kills'
  | 'stops'
  | 'full disk'
  | 'cut connections'
  | 'moving lists'
  | 'hostile clients'
  | 'odd records'
  | 'random histories'
  | 'whole programs';

/** How many runs a drill made, and what went wrong in them. */
export interface Counts {
  runs: number;
  /** Records that should be there and are not. */
  lost: number;
  /** Records that are there more than once. */
  doubled: number;
  /** Runs that did not end in time. */
  hung: number;
  /**
   * Statements that were not true: a success without its records, a wrong total, a record that
   * never was, a failed assertion.
   */
  lied: number;
}

const setTimer = setTimeout;

/**
 * Counts the runs of a drill. A law that tests and drills share takes one, and fills it with what
 * it has seen.
 */
export class Tally {
  readonly counts: Counts = { runs: 0, lost: 0, doubled: 0, hung: 0, lied: 0 };
  /** What was done to the runs: kills, stops, cuts. */
  readonly events: Record<string, number> = {};

  add(counts: Partial<Counts>): void {
    for (const [name, count] of Object.entries(counts)) this.counts[name as keyof Counts] += count;
  }

  happened(event: string, times = 1): void {
    this.events[event] = (this.events[event] ?? 0) + times;
  }

  /**
   * Compares records by their ids: those that must be there, those that are, and all that may be.
   */
  compare(must: Iterable<string>, found: readonly string[], may?: Iterable<string>): void {
    const expected = new Set(must);
    const different = new Set(found);
    const allowed = may === undefined ? expected : new Set(may);
    this.add({
      lost: [...expected].filter((id) => !different.has(id)).length,
      doubled: found.length - different.size,
      lied: [...different].filter((id) => !allowed.has(id)).length,
    });
  }

  /** One run. If it fails, and not because of what it has counted itself, it has lied. */
  async run<T>(work: () => Promise<T> | T, limitMs = 120_000): Promise<T> {
    this.add({ runs: 1 });
    const before = this.faults;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimer(() => {
        this.add({ hung: 1 });
        reject(new Error(`A run did not end within ${limitMs / 1000} seconds.`));
      }, limitMs);
    });
    try {
      return await Promise.race([work(), limit]);
    } catch (error) {
      if (this.faults === before) this.add({ lied: 1 });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The same for a law: each time it is called is a run. */
  counted<A extends unknown[]>(
    law: (...values: A) => Promise<void>,
  ): (...values: A) => Promise<void> {
    return (...values) => this.run(() => law(...values));
  }

  /** All that went wrong. */
  get faults(): number {
    const { lost, doubled, hung, lied } = this.counts;
    return lost + doubled + hung + lied;
  }
}

/** What a drill says about itself. */
export interface DrillOptions {
  /** A few words, with hyphens. */
  name: string;
  kind: DrillKind;
  /** A sentence without its period: what is done, and what must hold. */
  what: string;
  /** Each test of the file is a run. For files whose tests do not count by themselves. */
  countTests?: boolean;
}

/** The drills of this file. */
const opened: Tally[] = [];

/**
 * A tally that is printed when the test file is done, and fails it if anything was lost, doubled,
 * hung or lied about. Outside of drills it does nothing.
 *
 * @example
 * const tally = openDrill({ name: 'killed-writer', kind: 'kills', what: 'A writer is killed; no
 * acknowledged call is lost' });
 */
export function openDrill({ name, kind, what, countTests = false }: DrillOptions): Tally {
  const tally = new Tally();
  if (process.env.CALLS_DRILLS === undefined) return tally;
  const started = performance.now();
  opened.push(tally);
  afterEach(({ task }) => {
    const hasFailed = task.result?.state === 'fail';
    if (countTests) tally.add({ runs: 1, lied: hasFailed ? 1 : 0 });
    // A test that fails outside of a run: no drill of the file may then say that it held.
    else if (hasFailed && opened.every(({ faults }) => faults === 0)) tally.add({ lied: 1 });
  });
  afterAll(() => {
    const { counts, events } = tally;
    const line = Object.entries({ ...counts, ...events }).map(
      ([key, count]) => `${key.replaceAll(' ', '-')}=${count}`,
    );
    const seconds = Math.round((performance.now() - started) / 1000);

    // Run by itself, it reports to nobody.
    const report = process.env.CALLS_DRILLS_REPORT ?? devNull;
    appendFileSync(report, `${JSON.stringify({ name, kind, ...counts, seconds, events })}\n`);
    if (tally.faults > 0) throw new Error(`The drill ${name} failed: ${line.join(' ')}. ${what}.`);
  });
  return tally;
}

/** How often a drill does what it does: by default, with `--long`, or as CALLS_RUNS says. */
export function rounds(usual: number, long: number): number {
  if (process.env.CALLS_RUNS) return Number(process.env.CALLS_RUNS);
  return process.env.CALLS_DRILLS === 'long' ? long : usual;
}
