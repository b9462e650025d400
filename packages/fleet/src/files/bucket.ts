import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Environment } from '@call-attribution/core/settings';
import { writeWholeFile } from '@call-attribution/node-stream/files';
import { receiptEnding } from '@call-attribution/node-stream/receipts';
import { claimLost } from '../errors.ts';
import type { Target } from '../turn/turn.ts';
import { type FilesPlace, turnIntoFiles } from '../turn/turn-into-files.ts';
import { bucketAddress } from './bucket-address.ts';
import { type BucketClient, type BucketWaits, bucketWaits, openBucketClient } from './bucket-client.ts';
import { putWhen } from './bucket-put.ts';
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

class BucketPlace implements FilesPlace {
  readonly #client: BucketClient;
  readonly #folder: string | undefined;
  #scratch: Promise<Scratch> | undefined;

  constructor(client: BucketClient, folder: string | undefined) {
    this.#client = client;
    this.#folder = folder;
  }

  async begin(account: string): ReturnType<FilesPlace['begin']> {
    const client = this.#client;
    this.#scratch ??= openScratch(this.#folder);
    const scratch = await this.#scratch;
    const folder = await scratch.folder();
    // Whoever writes an object after this is first.
    const etags = new Map<string, string>();
    const sizes = new Map<string, number>();
    for await (const { key, etag, bytes } of client.list(`account=${account}/`)) {
      etags.set(key, etag);
      sizes.set(key, bytes);
    }
    return {
      list: async () => [...sizes].map(([name, size]) => ({ name, size })),
      read: async (name) => (await client.get(name))?.body.toString('utf8') ?? null,
      async put(name, bytes) {
        const path = join(folder, basename(name));
        const hash = createHash('sha256');
        let length = 0;
        const counted = async function* () {
          for await (const chunk of bytes) {
            hash.update(chunk);
            length += chunk.length;
            yield chunk;
          }
        };
        await writeWholeFile(path, counted());
        const body = { bytes: length, sha256: hash.digest('hex'), open: () => createReadStream(path) };
        const isReceipt = name.endsWith(receiptEnding);
        const etag = await putWhen(client, {
          ...{ key: name, body, replaces: etags.get(name) ?? null, mark: randomUUID() },
          type: isReceipt ? 'application/json' : 'application/octet-stream',
        });
        await rm(path, { force: true });
        if (etag === null) throw claimLost();
        etags.set(name, etag);
      },
      close: () => rm(folder, { recursive: true, force: true }).catch(() => {}),
    };
  }

  async close(): Promise<void> {
    await (await this.#scratch?.catch(() => undefined))?.close();
    this.#client.close();
  }
}
