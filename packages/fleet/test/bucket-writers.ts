import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { StreamPage } from '@call-attribution/node-stream';
import { builtFile } from '@call-attribution/test-tools';
import type { Tally } from '@call-attribution/test-tools/drill';
import { expect } from 'vitest';
import type { PinnedJob, Target } from '../src/index.ts';
import { openTarget } from '../src/target/open-target.ts';
import { openScratch } from '../src/target/scratch.ts';
import { type BucketServer, startBucketServer } from './bucket-server.ts';
import { all, callsOf } from './real-pages.ts';
import { cutIntoParcels, type FilledParcel, pinnedJob, readingOf } from './target-laws.ts';

const [filled] = cutIntoParcels(callsOf(6), 6) as [FilledParcel];
const { parcel, calls } = filled;
const linesOf = (by: string) => calls.map((call) => `${JSON.stringify({ ...call, city: by })}\n`);
/** Only the process has it, so that its requests are known. */
const sessionToken = 'of the process';

/** What is done to a process at one of its requests. */
export interface Blow {
  /** Which of its requests: 1 is the first one. */
  readonly at: number;
  /**
   * `before`: it is killed or stopped, and the request is never done. `after`: the request is done first. `held`: it is stopped, and
   * the request is done once another worker has committed.
   */
  readonly when: 'before' | 'after' | 'held';
  /** An older reading of the parcel lies there. */
  readonly again: boolean;
}

/** Processes that write a parcel into a bucket, and what happens when they are killed or stopped. */
export class BucketWriters {
  readonly #server: BucketServer;
  readonly #program: string;
  readonly #scratch = mkdtempSync(join(tmpdir(), 'fleet-bucket-'));
  #runs = 0;

  private constructor(server: BucketServer, program: string) {
    this.#server = server;
    this.#program = program;
  }

  static async open(): Promise<BucketWriters> {
    const program = await builtFile(new URL('./fixtures/bucket-writer.ts', import.meta.url).href);
    const server = await startBucketServer();
    // Targets of this process take the same.
    Object.assign(process.env, server.env);
    return new BucketWriters(server, program);
  }

  async close(): Promise<void> {
    for (const name of Object.keys(this.#server.env)) delete process.env[name];
    // What killed processes left is removed by the next one.
    await (await openScratch(this.#scratch)).close();
    const left = readdirSync(this.#scratch).filter((name) => !name.includes('.lock'));
    rmSync(this.#scratch, { recursive: true, force: true });
    await this.#server.close();
    expect(left).toEqual([]);
  }

  /** One process is killed or stopped, another worker reads the parcel. False when the process made fewer requests. */
  async run(blow: Blow, signal: 'SIGKILL' | 'SIGSTOP', tally: Tally): Promise<boolean> {
    this.#runs += 1;
    const [server, account] = [this.#server, `a${this.#runs}`];
    const job = pinnedJob(`s3://${server.bucket}/${signal}${this.#runs}`);
    await using target = await openTarget(job.into, job, { scratch: this.#scratch });
    await target.pin(job);
    if (blow.again) {
      await this.#fill(target, account, 'w0');
      await target.reopen(account, parcel);
    }
    const [struck, goOn] = [promise(), promise()];
    let count = 0;
    const child = this.#start(job, account);
    server.behavior.before = async ({ headers }) => {
      if (headers['x-amz-security-token'] === undefined) return undefined;
      count += 1;
      if (count !== blow.at) return undefined;
      child.process.kill(signal);
      struck.keep();
      if (blow.when === 'held') await goOn.kept;
      return blow.when === 'before' ? 'cut' : undefined;
    };
    void child.output.then(() => struck.keep());
    await struck.kept;
    const isStruck = count >= blow.at;
    if (isStruck) tally.happened(signal === 'SIGKILL' ? 'kills' : 'stops');
    const done = await this.#fill(target, account, 'w2');
    goOn.keep();
    if (isStruck && signal === 'SIGSTOP') child.process.kill('SIGCONT');
    const said = (await child.output).trim();
    // Whoever committed first has it; the other one hears of it.
    const [verdict, ...more] = await all(target.verdicts(account));
    expect(more).toEqual([]);
    expect(verdict?.by).toBe(done.by);
    if (!isStruck) expect([said, done.by]).toEqual(['committed', 'w1']);
    if (done.by === 'w2' && signal === 'SIGSTOP') expect(['claim_lost', 'done']).toContain(said);
    if (done.by === 'w1' && signal === 'SIGSTOP') expect(said).toBe('committed');
    expect(await target.inspect(account, verdict as NonNullable<typeof verdict>)).toBeNull();
    const records = this.#records(job, account);
    tally.compare(
      calls.map(({ sid }) => sid),
      records.map(({ sid }) => sid),
    );
    expect(new Set(records.map(({ city }) => city))).toEqual(new Set([done.by]));
    server.behavior.before = () => undefined;
    return isStruck;
  }

  async #fill(target: Target, account: string, by: string) {
    const claim = await target.claim(account, parcel, by);
    if (claim.done !== null) return claim.done;
    for (const line of linesOf(by))
      await claim.put({ ndjson: () => Buffer.from(line) } as Partial<StreamPage> as StreamPage);
    return claim.commit(readingOf(account, filled, by));
  }

  #start(job: PinnedJob, account: string) {
    const reading = readingOf(account, filled, 'w1');
    const work = { job, scratch: this.#scratch, account, parcel, lines: linesOf('w1'), reading };
    const child = spawn(process.execPath, [this.#program, JSON.stringify(work)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...this.#server.env, AWS_SESSION_TOKEN: sessionToken },
    });
    return { process: child, output: text(child.stdout) };
  }

  #records({ into }: PinnedJob, account: string): { sid: string; city: string }[] {
    const start = `${into.split('/').slice(3).join('/')}/account=${account}/`;
    return [...this.#server.objects]
      .filter(([key]) => key.startsWith(start))
      .flatMap(([, { body }]) => body.toString('utf8').split('\n'))
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }
}

function promise() {
  let keep = () => {};
  const kept = new Promise<void>((resolve) => {
    keep = resolve;
  });
  return { kept, keep };
}
