import type { Environment } from '@call-attribution/core/settings';
import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';
import type { AccountPlan, ParcelVerdict } from '../parcels/parcel.ts';
import { bucketAddress } from './bucket-address.ts';
import { bucketClaim } from './bucket-claim.ts';
import { type BucketClient, type BucketWaits, bucketWaits, openBucketClient } from './bucket-client.ts';
import { putWhen } from './bucket-put.ts';
import { jsonBody, newClaim, readSlot, writeSlot } from './bucket-slot.ts';
import { prepareBucket, testConditions } from './bucket-start.ts';
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
  const { name } = client;
  let held: PinnedJob | null = null;
  let opening: Promise<Scratch> | null = null;
  const scratch = (): Promise<Scratch> => {
    opening ??= openScratch(scratchFolder).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  const pinned = async (): Promise<PinnedJob | null> => {
    if (held !== null) return held;
    const found = await client.get(jobPath);
    held = found === null ? null : readPinned(found.body.toString('utf8'), name);
    return held;
  };
  /** The job whose format and partition the parts have. */
  const jobOf = async (): Promise<PinnedJob> => {
    const job = (await pinned()) ?? given;
    if (job !== null) return job;
    throw new FleetError('unknown_job', `No job was planned in ${name}. Plan it first.`);
  };
  /** Whoever opened it to look only, and then writes, needs the self-test, too. */
  let testing: Promise<void> | null = given === null ? null : Promise.resolve();
  const tested = (): Promise<void> => {
    testing ??= testConditions(client).catch((error: unknown) => {
      testing = null;
      throw error;
    });
    return testing;
  };
  const write = async (key: string, value: unknown, replaces: string | null) => {
    await tested();
    return putWhen(client, {
      key,
      body: jsonBody(value),
      replaces,
      mark: newClaim(),
      type: 'application/json',
    });
  };
  const planIn = async (account: string): Promise<{ plan: AccountPlan; etag: string } | null> => {
    const found = await client.get(planPath(account));
    if (found === null) return null;
    const record = JSON.parse(found.body.toString('utf8')) as PlanRecord;
    return { plan: unpackPlan(record, account, (await pinned())?.name ?? null, name), etag: found.etag };
  };
  const close = async (): Promise<void> => {
    client.close();
    await (await opening?.catch(() => null))?.close();
  };

  return {
    name,
    async pin(job) {
      // Whoever was first stays, and its job is the one that is read.
      await write(jobPath, JSON.parse(writePinned(job)), null);
      return (await pinned()) ?? job;
    },
    async plan(account, make) {
      const kept = await planIn(account.id);
      if (kept !== null) return kept.plan;
      const made = await make();
      await write(planPath(account.id), packPlan((await jobOf()).name, account.id, made), null);
      return (await planIn(account.id))?.plan ?? made;
    },
    planOf: async (account) => (await planIn(account))?.plan ?? null,
    async continuePlan(account, before, after) {
      const kept = await planIn(account);
      if (kept === null) throw noPlan(account, name);
      if (!isSamePlan(kept.plan, before)) return kept.plan;
      await write(planPath(account), packPlan((await jobOf()).name, account, after), kept.etag);
      const holds = await planIn(account);
      if (holds === null) throw noPlan(account, name);
      return holds.plan;
    },
    async claim(account, parcel, holder) {
      await tested();
      return bucketClaim({ client, scratch, job: await jobOf(), account, parcel, holder, lookMs });
    },
    async reopen(account, parcel) {
      const path = verdictPath(account, parcel);
      for (;;) {
        const slot = await readSlot(client, path);
        // Whoever reads a parcel that was never committed continues with it.
        if (slot?.slot.state !== 'committed') return;
        await tested();
        if ((await writeSlot(client, path, { state: 'reopened', claim: newClaim() }, slot.etag)) !== null)
          return;
      }
    },
    async *verdicts(account) {
      const slots: string[] = [];
      for await (const { key } of client.list(`${verdictsPath(account)}/`))
        if (key.endsWith('.json')) slots.push(key);
      const job = slots.length === 0 ? null : await jobOf();
      if (job === null) return;
      const parts = new Map<string, string>();
      for await (const { key, etag } of client.list(`account=${account}/`)) parts.set(key, etag);
      for (let from = 0; from < slots.length; from += readsAtOnce) {
        const some = slots.slice(from, from + readsAtOnce);
        for (const held of await Promise.all(some.map((key) => readSlot(client, key)))) {
          if (held?.slot.state !== 'committed') continue;
          const { verdict, etag } = held.slot;
          const part = partPath(account, verdict, job);
          // One that was committed after the parts were listed is looked at once more.
          const lies = parts.get(part) === etag ? etag : (await client.head(part))?.etag;
          if (lies === etag) yield verdict;
        }
      }
    },
    count: async () => null,
    sync: () => null,
    inspect: async (account, verdict) =>
      inspectPart(client, partPath(account, verdict, await jobOf()), verdict),
    close,
    [Symbol.asyncDispose]: close,
  };
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
