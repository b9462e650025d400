import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Environment } from '@call-attribution/core/settings';
import { parseReceipt, type Receipt, receiptEnding } from '@call-attribution/node-stream/receipts';
import { claimLost } from '../errors.ts';
import type { PlannedJob } from '../job.ts';
import { monthIn, monthPath } from '../turn/months.ts';
import type { Target } from '../turn/turn.ts';
import { type FilesPlace, type MonthWriting, turnIntoFiles } from '../turn/turn-into-files.ts';
import { bucketAddress } from './bucket-address.ts';
import { type BucketClient, type BucketWaits, bucketWaits, openBucketClient } from './bucket-client.ts';
import type { ListedObject } from './bucket-listing.ts';
import { putWhen, textBody } from './bucket-put.ts';
import { lockBucket, prepareBucket } from './bucket-start.ts';
import { onDisk } from './folder-files.ts';
import { openScratch, type Scratch } from './scratch.ts';

/** Settings of a bucket. */
export interface BucketOptions {
  /** Folder where files are written before they are sent. Default: one below the folder for temporary files. */
  readonly scratch?: string | undefined;
  /** Where keys, region and server come from. Default `process.env`. */
  readonly env?: Environment | undefined;
  /** Waits, for tests. */
  readonly waits?: BucketWaits | undefined;
}

/** Receipts that are read at the same time. */
const readsAtOnce = 16;

/** A bucket of an S3-compatible server as a target: an object for each month of an account, put on condition of the one before. */
export function openBucketTarget(into: string, options: BucketOptions = {}): Target {
  const { scratch, env = process.env, waits = bucketWaits } = options;
  const client = openBucketClient(bucketAddress(into, env), waits);
  const place = new BucketPlace(client, scratch);
  const close = () => place.close();
  return {
    name: client.name,
    prepare: (job) => prepareBucket(client, job),
    lock: (job) => lockBucket(client, job.name, waits.beatMs),
    turn: (work) => onDisk('the folder for temporary files', () => turnIntoFiles(place, work)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A receipt, and the etag of the object that it is about. */
interface KeptReceipt {
  readonly etag: string;
  readonly receipt: Receipt | null;
  readonly about: string | null;
}

class BucketPlace implements FilesPlace {
  readonly #client: BucketClient;
  readonly #folder: string | undefined;
  /** Receipts by their keys: they are read again when they have another etag. */
  readonly #known = new Map<string, KeptReceipt>();
  #scratch: Promise<Scratch> | undefined;

  constructor(client: BucketClient, folder: string | undefined) {
    this.#client = client;
    this.#folder = folder;
  }

  async held(job: PlannedJob, account: string): Promise<ReadonlyMap<string, Receipt>> {
    const objects = new Map<string, ListedObject>();
    for await (const object of this.#client.list(`account=${account}/`)) objects.set(object.key, object);
    const receipts = [...objects.values()].filter(({ key }) => key.endsWith(receiptEnding));
    const found = new Map<string, Receipt>();
    for (let at = 0; at < receipts.length; at += readsAtOnce) {
      const some = receipts.slice(at, at + readsAtOnce);
      for (const [i, kept] of (await Promise.all(some.map((object) => this.#receiptAt(object)))).entries()) {
        const key = some[i]?.key.slice(0, -receiptEnding.length) ?? '';
        const month = monthIn(key, account, job);
        const file = objects.get(key);
        const isSame =
          file !== undefined && file.etag === kept.about && file.bytes === kept.receipt?.bytes?.length;
        if (month !== null && kept.receipt !== null && isSame) found.set(month, kept.receipt);
      }
    }
    return found;
  }

  async #receiptAt({ key, etag }: ListedObject): Promise<KeptReceipt> {
    const known = this.#known.get(key);
    if (known?.etag === etag) return known;
    const object = await this.#client.get(key);
    const receipt = object === null ? null : parseReceipt(object.body.toString('utf8')).receipt;
    const kept = { etag: object?.etag ?? etag, receipt, about: object?.about ?? null };
    this.#known.set(key, kept);
    return kept;
  }

  async begin(job: PlannedJob, account: string, month: string): Promise<MonthWriting> {
    const key = monthPath(account, month, job);
    const receiptKey = `${key}${receiptEnding}`;
    // Whoever writes one of the two meanwhile is first.
    const before = await Promise.all([this.#client.head(key), this.#client.head(receiptKey)]);
    const [file, receipt] = before.map((object) => object?.etag ?? null);
    this.#scratch ??= openScratch(this.#folder);
    const folder = await (await this.#scratch).folder();
    const path = join(folder, basename(key));
    return {
      path,
      commit: () => this.#commit(path, key, { file: file ?? null, receipt: receipt ?? null }),
      check: async () => {},
      drop: () => rm(folder, { recursive: true, force: true }).catch(() => {}),
    };
  }

  async #commit(
    path: string,
    key: string,
    before: { readonly file: string | null; readonly receipt: string | null },
  ): Promise<void> {
    const text = await readFile(`${path}${receiptEnding}`, 'utf8');
    const bytes = parseReceipt(text).receipt?.bytes;
    if (bytes == null) throw new Error('a receipt was written that cannot be read');
    const body = { bytes: bytes.length, sha256: bytes.sha256, open: () => createReadStream(path) };
    const mark = randomUUID();
    const type = 'application/octet-stream';
    const etag = await putWhen(this.#client, { key, body, replaces: before.file, mark, type });
    if (etag === null) throw claimLost();
    const written = await putWhen(this.#client, {
      key: `${key}${receiptEnding}`,
      body: textBody(text),
      replaces: before.receipt,
      mark,
      type: 'application/json',
      about: etag,
    });
    if (written === null) throw claimLost();
  }

  async close(): Promise<void> {
    await (await this.#scratch?.catch(() => undefined))?.close();
    this.#client.close();
  }
}
