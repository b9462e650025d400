import { createReadStream } from 'node:fs';
import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';
import type { Parcel, ParcelVerdict } from '../parcels/parcel.ts';
import type { BucketClient, BucketObject } from './bucket-client.ts';
import { putWhen } from './bucket-put.ts';
import {
  type ClaimRecord,
  type HeldClaimRecord,
  newClaim,
  readClaimRecord,
  writeClaimRecord,
} from './claim-record.ts';
import { onDisk } from './folder-files.ts';
import { partPath, verdictPath } from './part-names.ts';
import type { PartFacts, PartWriter } from './part-writer.ts';
import type { Scratch } from './scratch.ts';
import type { ParcelClaim } from './target.ts';

/** What the claim of a parcel belongs to. */
export interface BucketParcel {
  readonly client: BucketClient;
  readonly scratch: () => Promise<Scratch>;
  readonly job: PinnedJob;
  readonly account: string;
  readonly parcel: Parcel;
  readonly holder: string;
  /** Time after which `put` looks whether the claim still holds. */
  readonly lookMs: number;
}

/** The most that one PUT may send. */
const mostBytes = 5 * 1024 ** 3;

/** Others who claim or write the same at the same moment, before it is left to them. */
const mostRounds = 10;

/**
 * Claims a parcel. Its slot takes claims one after the other, each conditional on the one before; the part is written over what lies
 * at its key, under the condition that it is still that; then the slot is written under the condition that it still has this claim.
 *
 * Who claimed earlier and goes on late meets one of these: the slot is no longer theirs, so no verdict of theirs is ever written; or
 * the part is no longer the one they saw when they claimed, so it is not replaced. A part of theirs that arrives before ours is
 * replaced by ours; what lies there without a verdict that names its etag does not count, and is read again.
 */
export async function bucketClaim(place: BucketParcel): Promise<ParcelClaim> {
  const { client, job, account, parcel, holder } = place;
  const [part, path] = [partPath(account, parcel, job), verdictPath(account, parcel)];
  for (let round = 0; round < mostRounds; round += 1) {
    const held = await readClaimRecord(client, path);
    if (held?.slot.state === 'committed' && (await client.head(part))?.etag === held.slot.etag)
      return new BucketClaim(place, held, null, held.slot.verdict);
    const slot: ClaimRecord = { state: 'claimed', claim: newClaim(), by: holder };
    const mine = await writeClaimRecord(client, path, slot, held?.etag ?? null);
    // Looked at after the claim: whoever claimed before has seen no later object than this.
    if (mine !== null) return new BucketClaim(place, mine, await client.head(part), null);
  }
  throw claimLost();
}

class BucketClaim implements ParcelClaim {
  readonly done: ParcelVerdict | null;
  readonly #place: BucketParcel;
  readonly #mine: HeldClaimRecord;
  readonly #partPath: string;
  readonly #slotPath: string;
  #seen: BucketObject | null;
  #lookedAt = performance.now();
  #scratch: Scratch | null = null;
  #part: PartWriter | null = null;

  constructor(
    place: BucketParcel,
    mine: HeldClaimRecord,
    seen: BucketObject | null,
    done: ParcelVerdict | null,
  ) {
    const { account, parcel, job } = place;
    this.#place = place;
    this.#mine = mine;
    this.#seen = seen;
    this.#partPath = partPath(account, parcel, job);
    this.#slotPath = verdictPath(account, parcel);
    this.done = done;
  }

  put: ParcelClaim['put'] = async (page) => {
    // What is written to a file of our own would not show that the parcel was taken away.
    if (performance.now() - this.#lookedAt >= this.#place.lookMs) await this.#hold();
    const part = await this.#opened();
    await onDisk('The folder for temporary files', () => part.put(page));
  };

  commit: ParcelClaim['commit'] = async (reading) => {
    // Only spares the request that would be refused, and readers a part that does not count.
    await this.#hold();
    const part = await this.#opened();
    const facts = await onDisk('The folder for temporary files', () => part.finish());
    if (facts.bytes > mostBytes) throw tooLarge(facts.bytes);
    const etag = await this.#send(part.path, facts);
    const verdict: ParcelVerdict = { ...reading, leftOut: 0, ...facts };
    const { client } = this.#place;
    const slot: ClaimRecord = { state: 'committed', claim: this.#mine.slot.claim, etag, verdict };
    const written = await writeClaimRecord(client, this.#slotPath, slot, this.#mine.etag);
    await this.drop();
    if (written === null) throw claimLost();
    return verdict;
  };

  async drop(): Promise<void> {
    if (this.#part !== null) await this.#scratch?.remove(this.#part);
  }

  /** Puts the part over what lies there, and returns its etag. */
  async #send(path: string, facts: PartFacts): Promise<string> {
    const { client, job } = this.#place;
    const mark = newClaim();
    for (let round = 0; round < mostRounds; round += 1) {
      const seen = this.#seen;
      // A reading with the same bytes leaves the object as it is, for programs that look for changed ones.
      const etag =
        seen !== null && seen.bytes === facts.bytes && seen.sha256 === facts.sha256
          ? await this.#unchanged(seen)
          : await putWhen(client, {
              key: this.#partPath,
              body: { ...facts, open: () => createReadStream(path) },
              replaces: seen?.etag ?? null,
              mark,
              type: types[job.format ?? 'parquet'],
            });
      if (etag !== null) return etag;
      // Somebody has written the part since: a claim before ours, or one after it. First the part, then the slot: when the slot
      // is still ours now, nobody who claimed later can have written what was seen.
      this.#seen = await client.head(this.#partPath);
      await this.#hold();
    }
    throw claimLost();
  }

  async #unchanged({ etag }: BucketObject): Promise<string | null> {
    return (await this.#place.client.head(this.#partPath))?.etag === etag ? etag : null;
  }

  /** Throws when the parcel was claimed again. */
  async #hold(): Promise<void> {
    const there = await this.#place.client.head(this.#slotPath);
    this.#lookedAt = performance.now();
    if (there?.etag === this.#mine.etag) return;
    await this.drop();
    throw claimLost();
  }

  async #opened(): Promise<PartWriter> {
    const { scratch, job } = this.#place;
    this.#part ??= await onDisk('The folder for temporary files', async () => {
      this.#scratch = await scratch();
      return this.#scratch.begin(job);
    });
    return this.#part;
  }
}

const types = {
  parquet: 'application/vnd.apache.parquet',
  'ndjson.gz': 'application/gzip',
  ndjson: 'application/x-ndjson',
  'csv.gz': 'application/gzip',
} as const;

const claimLost = (): FleetError =>
  new FleetError('claim_lost', 'Another worker has claimed the same since, and continues with it.');

const tooLarge = (bytes: number): FleetError =>
  new FleetError(
    'target_unfit',
    `A part has ${(bytes / 1024 ** 3).toFixed(1)} GB; a bucket takes 5 GB in one request.`,
    { hint: 'Plan the job again under another name, with a smaller `parcel` or a packed format.' },
  );
