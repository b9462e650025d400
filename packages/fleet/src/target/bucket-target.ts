import type { Environment } from '@call-attribution/core/settings';
import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';
import type { AccountPlan, ParcelVerdict } from '../parcels/parcel.ts';
import { bucketAddress } from './bucket-address.ts';
import { bucketClaim } from './bucket-claim.ts';
import { type BucketClient, type BucketWaits, bucketWaits, openBucketClient } from './bucket-client.ts';
import { putWhen } from './bucket-put.ts';
import { prepareBucket, testConditions } from './bucket-start.ts';
import { jsonBody, newClaim, readClaimRecord, writeClaimRecord } from './claim-record.ts';
import { jobPath, partPath, planPath, verdictPath, verdictsPath } from './part-names.ts';
import { readPinned, writePinned } from './pinned-record.ts';
import { isSamePlan, noPlan, type PlanRecord, packPlan, unpackPlan } from './plan-record.ts';
import { openScratch, type Scratch } from './scratch.ts';
import type { Target } from './target.ts';

/** Settings of a bucket. */
export interface BucketOptions {
  /** Folder where parts are written before they are sent. Default: one below the folder for temporary files. */
  readonly scratch?: string | undefined;
  /** Where keys, region and server come from. Default `process.env`. */
  readonly env?: Environment | undefined;
  /** Waits, for tests. */
  readonly waits?: BucketWaits | undefined;
}

/** Verdicts that are read at the same time. */
const readsAtOnce = 32;

/**
 * A bucket of an S3-compatible server as a target: an object for each parcel, put in one request with a condition, and a slot for
 * each parcel whose every write depends on the one before. See `bucketClaim` for what keeps two workers apart.
 */
export async function openBucketTarget(
  into: string,
  job: PinnedJob | null,
  { scratch, env = process.env, waits = bucketWaits }: BucketOptions = {},
): Promise<Target> {
  const client = openBucketClient(bucketAddress(into, env), waits);
  try {
    if (job !== null) await prepareBucket(client, job);
  } catch (error) {
    client.close();
    throw error;
  }
  return bucketTarget(client, job, scratch, waits.lookMs);
}

function bucketTarget(
  client: BucketClient,
  given: PinnedJob | null,
  scratchFolder: string | undefined,
  lookMs: number,
): Target {
  const place = new BucketParcel(client, given, scratchFolder);
  const scratch = () => place.scratch();
  const close = () => place.close();
  return {
    name: client.name,
    ...planMethods(place),
    async claim(account, parcel, holder) {
      await place.tested();
      return bucketClaim({ client, scratch, job: await place.jobOf(), account, parcel, holder, lookMs });
    },
    async reopen(account, parcel) {
      const path = verdictPath(account, parcel);
      for (;;) {
        const slot = await readClaimRecord(client, path);
        // Whoever reads a parcel that was never committed continues with it.
        if (slot?.slot.state !== 'committed') return;
        await place.tested();
        if (
          (await writeClaimRecord(client, path, { state: 'reopened', claim: newClaim() }, slot.etag)) !== null
        )
          return;
      }
    },
    verdicts: (account) => verdictsOf(place, account),
    count: async () => null,
    sync: () => null,
    inspect: async (account, verdict) =>
      inspectPart(client, partPath(account, verdict, await place.jobOf()), verdict),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A bucket with the job whose parts it has. */
class BucketParcel {
  readonly client: BucketClient;
  readonly #given: PinnedJob | null;
  readonly #scratchFolder: string | undefined;
  #held: PinnedJob | null = null;
  #opening: Promise<Scratch> | null = null;
  #testing: Promise<void> | null;

  constructor(client: BucketClient, given: PinnedJob | null, scratchFolder: string | undefined) {
    this.client = client;
    this.#given = given;
    this.#scratchFolder = scratchFolder;
    this.#testing = given === null ? null : Promise.resolve();
  }

  scratch(): Promise<Scratch> {
    this.#opening ??= openScratch(this.#scratchFolder).catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async pinned(): Promise<PinnedJob | null> {
    if (this.#held !== null) return this.#held;
    const found = await this.client.get(jobPath);
    this.#held = found === null ? null : readPinned(found.body.toString('utf8'), this.client.name);
    return this.#held;
  }

  /** The job whose format and partition the parts have. */
  async jobOf(): Promise<PinnedJob> {
    const job = (await this.pinned()) ?? this.#given;
    if (job !== null) return job;
    throw new FleetError('unknown_job', `No job was planned in ${this.client.name}. Plan it first.`);
  }

  /** Whoever opened it to look only, and then writes, needs the self-test, too. */
  tested(): Promise<void> {
    this.#testing ??= testConditions(this.client).catch((error: unknown) => {
      this.#testing = null;
      throw error;
    });
    return this.#testing;
  }

  async write(key: string, value: unknown, replaces: string | null): Promise<void> {
    await this.tested();
    const mark = newClaim();
    await putWhen(this.client, { key, body: jsonBody(value), replaces, mark, type: 'application/json' });
  }

  async planIn(account: string): Promise<{ plan: AccountPlan; etag: string } | null> {
    const found = await this.client.get(planPath(account));
    if (found === null) return null;
    const record = JSON.parse(found.body.toString('utf8')) as PlanRecord;
    const job = (await this.pinned())?.name ?? null;
    return { plan: unpackPlan(record, account, job, this.client.name), etag: found.etag };
  }

  async close(): Promise<void> {
    this.client.close();
    await (await this.#opening?.catch(() => null))?.close();
  }
}

function planMethods(place: BucketParcel) {
  const { name } = place.client;
  return {
    async pin(job) {
      // Whoever was first stays, and its job is the one that is read.
      await place.write(jobPath, JSON.parse(writePinned(job)), null);
      return (await place.pinned()) ?? job;
    },
    async plan(account, make) {
      const kept = await place.planIn(account.id);
      if (kept !== null) return kept.plan;
      const made = await make();
      const record = packPlan((await place.jobOf()).name, account.id, made);
      await place.write(planPath(account.id), record, null);
      return (await place.planIn(account.id))?.plan ?? made;
    },
    planOf: async (account) => (await place.planIn(account))?.plan ?? null,
    async continuePlan(account, before, after) {
      const kept = await place.planIn(account);
      if (kept === null) throw noPlan(account, name);
      if (!isSamePlan(kept.plan, before)) return kept.plan;
      const record = packPlan((await place.jobOf()).name, account, after);
      await place.write(planPath(account), record, kept.etag);
      const holds = await place.planIn(account);
      if (holds === null) throw noPlan(account, name);
      return holds.plan;
    },
  } satisfies Partial<Target>;
}

async function* verdictsOf(place: BucketParcel, account: string): AsyncGenerator<ParcelVerdict> {
  const { client } = place;
  const slots: string[] = [];
  for await (const { key } of client.list(`${verdictsPath(account)}/`))
    if (key.endsWith('.json')) slots.push(key);
  const job = slots.length === 0 ? null : await place.jobOf();
  if (job === null) return;
  const parts = new Map<string, string>();
  for await (const { key, etag } of client.list(`account=${account}/`)) parts.set(key, etag);
  for (let from = 0; from < slots.length; from += readsAtOnce) {
    const some = slots.slice(from, from + readsAtOnce);
    for (const held of await Promise.all(some.map((key) => readClaimRecord(client, key)))) {
      if (held?.slot.state !== 'committed') continue;
      const { verdict, etag } = held.slot;
      const part = partPath(account, verdict, job);
      // One that was committed after the parts were listed is looked at once more.
      const lies = parts.get(part) === etag ? etag : (await client.head(part))?.etag;
      if (lies === etag) yield verdict;
    }
  }
}

/** What is wrong with a part, or null. */
async function inspectPart(
  client: BucketClient,
  key: string,
  { bytes, sha256 }: ParcelVerdict,
): Promise<string | null> {
  const there = await client.head(key);
  const part = `${client.name}/${key}`;
  if (there === null) return `${part} is missing.`;
  if (there.bytes !== bytes) return `${part} has ${there.bytes} bytes; ${bytes} were committed.`;
  // A server that keeps a checksum has taken it of the bytes it has; what the writer stated is not enough.
  const found = there.checksum ?? (await client.hash(key))?.sha256;
  if (found === undefined) return `${part} is missing.`;
  return found === sha256 ? null : `${part} has other bytes than were committed (SHA-256).`;
}
