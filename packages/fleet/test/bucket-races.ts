import type { StreamPage } from '@call-attribution/node-stream';
import { Tally } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { PinnedJob, Target } from '../src/index.ts';
import { openBucketTarget } from '../src/target/bucket-target.ts';
import { type BucketServer, type Fault, startBucketServer } from './bucket-server.ts';
import { all, callsOf } from './real-pages.ts';
import { cutIntoParcels, type FilledParcel, pinnedJob, readingOf } from './target-laws.ts';

const waits = { retry: { attempts: 3, baseDelay: 1, maxDelay: 2 }, idleMs: 30_000, lookMs: 0 };
const [filled] = cutIntoParcels(callsOf(6), 6) as [FilledParcel];
const { parcel, calls } = filled;
const sids = calls.map(({ sid }) => sid);

/** What happens in one run: what each request meets in turn, and what the workers do. */
export interface Race {
  readonly faults: readonly number[];
  readonly workers: number;
  /** How often the parcel is reopened once it was committed. */
  readonly reopened: number;
  /** Different readings of the parcel: 0 for a new one each time. */
  readonly readings: number;
}

export const races: fc.Arbitrary<Race> = fc.record({
  faults: fc.array(fc.nat(24), { minLength: 20, maxLength: 120 }),
  workers: fc.integer({ min: 2, max: 4 }),
  reopened: fc.nat(2),
  readings: fc.constantFrom(0, 0, 2),
});

/** A bucket whose requests meet faults, for runs one after the other. */
export class RaceTrack {
  readonly #server: BucketServer;
  readonly #job: PinnedJob;
  readonly #targets: readonly Target[];
  #runs = 0;

  private constructor(server: BucketServer, job: PinnedJob, targets: readonly Target[]) {
    this.#server = server;
    this.#job = job;
    this.#targets = targets;
  }

  static async open(): Promise<RaceTrack> {
    const server = await startBucketServer();
    const into = `s3://${server.bucket}/races`;
    const job = pinnedJob(into);
    const targets: Target[] = [];
    for (let i = 0; i < 4; i += 1)
      targets.push(await openBucketTarget(into, job, { env: server.env, waits }));
    await targets[0]?.pin(job);
    return new RaceTrack(server, job, targets);
  }

  async close(): Promise<void> {
    for (const target of this.#targets) await target.close();
    await this.#server.close();
  }

  /**
   * Workers claim, read and commit the same parcel while requests fail, get lost, or are done long after they were given up. In the
   * end one part lies there, with all records of one reading and the verdict of that one.
   */
  async run({ faults, workers, reopened, readings }: Race, tally = new Tally()): Promise<void> {
    this.#runs += 1;
    const account = `a${this.#runs}`;
    const [server, target] = [this.#server, this.#targets[0] as Target];
    let [step, reading, left] = [0, 0, reopened];
    const commits: string[] = [];
    const next = () => (faults[step++ % faults.length] ?? 0) as number;
    server.behavior.before = async ({ method }) => {
      const number = next();
      for (let turns = number % 4; turns > 0; turns -= 1) await new Promise(setImmediate);
      const fault = faultOf(number, method);
      if (fault !== undefined) tally.happened('faults');
      return fault;
    };
    const work = async (worker: Target, name: string): Promise<void> => {
      for (let tries = 0; tries < 5; tries += 1) {
        reading += 1;
        const by = readings === 0 ? `${name}.${reading}` : `reading ${reading % readings}`;
        const claim = await worker.claim(account, parcel, by).catch(expected);
        if (claim === null) continue;
        if (claim.done !== null) {
          if (left === 0) return;
          left -= 1;
          await worker.reopen(account, parcel).catch(expected);
          continue;
        }
        try {
          for (const page of this.#read(by)) await claim.put(page);
          await claim.commit(readingOf(account, filled, by));
          commits.push(by);
          if (left === 0) return;
        } catch (error) {
          expected(error);
        } finally {
          await claim.drop();
        }
      }
    };
    await Promise.all(this.#targets.slice(0, workers).map((worker, i) => work(worker, `w${i}`)));
    await server.settled();
    server.behavior.before = () => undefined;

    const before = await all(target.verdicts(account));
    // Without another reading of the same bytes, what was committed stays so.
    if (commits.length > 0 && reopened === 0 && readings === 0) {
      expect(commits).toHaveLength(1);
      expect(before.map(({ by }) => by)).toEqual(commits);
    }
    for (const verdict of before) expect(await target.inspect(account, verdict)).toBeNull();
    const claim = await target.claim(account, parcel, 'last');
    expect(claim.done).toEqual(before[0] ?? null);
    if (claim.done === null) {
      for (const page of this.#read('last')) await claim.put(page);
      await claim.commit(readingOf(account, filled, 'last'));
    }
    const [verdict, ...more] = await all(target.verdicts(account));
    expect([verdict?.records, more]).toEqual([sids.length, []]);
    const records = this.#records(account);
    tally.compare(
      sids,
      records.map(({ sid }) => sid),
    );
    expect(new Set(records.map(({ city }) => city))).toEqual(new Set([verdict?.by]));
    for (const key of [...server.objects.keys()]) if (key.includes(account)) server.objects.delete(key);
    server.requests.length = 0;
  }

  /** The only page of a reading; lines are all that a part of lines takes of it. */
  #read(by: string): readonly StreamPage[] {
    const lines = calls.map((call) => `${JSON.stringify({ ...call, city: by })}\n`);
    return [{ ndjson: () => Buffer.from(lines.join('')) } as Partial<StreamPage> as StreamPage];
  }

  /** All records that a reader of the account finds. */
  #records(account: string): { sid: string; city: string }[] {
    return [...this.#server.objects]
      .filter(([key]) => key.startsWith(`races/account=${account}/`) && key.endsWith(`.${this.#job.format}`))
      .flatMap(([, { body }]) => body.toString('utf8').split('\n'))
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }
}

function faultOf(number: number, method: string): Fault | undefined {
  switch (number) {
    case 24:
      return 'cut';
    case 23:
    case 22:
      return 'lose';
    case 21:
      return { after: 500 };
    case 20:
      return { status: 503 };
    case 19:
      return method === 'PUT' ? { status: 409 } : undefined;
    case 18:
    case 17:
      return { late: number };
    case 16:
      return { late: 1 };
    default:
      return undefined;
  }
}

/** What a worker may meet here. */
function expected(error: unknown): null {
  expect(['claim_lost', 'target_unavailable']).toContain((error as { code: unknown }).code);
  return null;
}
