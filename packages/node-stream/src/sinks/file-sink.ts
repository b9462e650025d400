import { createHash, type Hash } from 'node:crypto';
import { constants, existsSync, readFileSync } from 'node:fs';
import { type FileHandle, rename, rm, stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { isSealed, seal } from '../checkpoint.ts';
import { toCsv } from '../encoders/csv.ts';
import { toGzip } from '../encoders/gzip.ts';
import { toParquet } from '../encoders/parquet.ts';
import { toJsonArray, toNdjson } from '../encoders/text.ts';
import { CheckpointError } from '../errors.ts';
import { lockFile } from '../files/file-lock.ts';
import { createFile, openOwnFile, strangeFile } from '../files/own-file.ts';
import { receiptPath, removeReceipt, syncFolder, writeWholeFile } from '../files/whole-file.ts';
import { defineOperator, through } from '../operators/chain.ts';
import type { AnyOperator, Chain, Operator, RowForm, Sink } from '../operators/operator.ts';
import type { Checkpoint } from '../page.ts';
import {
  type Receipt,
  type ReceiptFacts,
  RowDigest,
  receiptOf,
  sealed,
} from '../receipts/receipt.ts';
import { SavePace } from './store-sink.ts';

/**
 * What turns the items of a sink into bytes: one encoder, or several in a row such as `[toCsv(),
 * toGzip()]`; `[]` for bytes and strings.
 */
export type Encoding<T> =
  | Operator<T, Uint8Array>
  | readonly [Operator<T, Uint8Array>, ...Operator<Uint8Array, Uint8Array>[]]
  | (T extends Uint8Array | string ? readonly [] : never);

/** A name that says how a file is encoded. */
export type EncodedName =
  | `${string}.${'csv' | 'ndjson' | 'json'}${'' | '.gz'}`
  | `${string}.parquet`;

/** Says where the records of a file come from. `accounts`: the IDs in the records. */
export type ReceiptMaker = (accounts: readonly string[]) => ReceiptFacts | Promise<ReceiptFacts>;

/** Settings of `fileSink`. */
export interface FileSinkOptions<T> {
  /**
   * Turns records into bytes, for columns of your choice. Default: what the name of the file says.
   */
  encode?: Encoding<T>;
  /** Continue an unfinished file of the same path. Default false: start over. */
  resume?: boolean;
  /**
   * Facts to keep with the checkpoint, as plain JSON: what the file was begun with, for instance. A
   * run that resumes the file finds them in `sink.metadata`.
   */
  metadata?: unknown;
  /**
   * Write `<path>.receipt.json` next to the complete file: where the records come from, what was
   * proved of the read, how many rows the file has, a digest of them that does not depend on their
   * order, length and SHA-256 of the bytes. `true` takes what the source says of the read. A
   * function gives it instead: it is called at the end with the IDs of the accounts in the records.
   * Default false.
   */
  receipt?: boolean | ReceiptMaker;
}

/** What was written. */
export interface FileWritten {
  /** Rows in it, of earlier runs too; chunks, where they are bytes already. */
  readonly written: number;
}

/** A file that appears under its name when it is complete. */
export type FileSink<T> = Sink<T, FileWritten> & {
  /**
   * Where the source goes on, for an unfinished file; null when the file is begun from its start.
   */
  readonly checkpoint: Checkpoint | null;
  /**
   * What the file was begun with: of the earlier run when an unfinished file is resumed, else the
   * option.
   */
  readonly metadata: unknown;
};

/**
 * Writes `<path>.partial` and renames it to `path` when it is complete: a reader never sees half a
 * file, and an earlier file stays until then. How it is encoded follows from its name: `.csv`,
 * `.ndjson`, `.json` or `.parquet`, and `.gz` after the first three. The bytes are made durable now
 * and then, and the position is saved with them in `<path>.checkpoint`. A run that was cut off,
 * even by SIGKILL, continues with `resume`, without a lost or doubled row: what came after the
 * position is cut off. `<path>.lock` keeps a second writer out, on machines that share the folder
 * too. A part that was replaced or shortened since is refused, as are another chain, other columns
 * and another encoding. The receipt of an earlier file is removed when the new one gets its name.
 *
 * @example
 * await createCallStream(client).into(fileSink('calls.csv', { resume: true }));
 */
export function fileSink<T>(path: EncodedName, options?: FileSinkOptions<T>): FileSink<T>;
/** The same with an encoder of your choice, and any name. */
export function fileSink<T>(
  path: string,
  options: FileSinkOptions<T> & { readonly encode: Encoding<T> },
): FileSink<T>;
export function fileSink<T>(path: string, options: FileSinkOptions<T> = {}): FileSink<T> {
  const { resume = false } = options;
  const given = options.encode as AnyOperator | readonly AnyOperator[] | undefined;
  const encoders = given === undefined ? encodersOf(path) : [given].flat();
  const unsaved = encoders.find((each) => each.unsaved != null)?.unsaved;
  if (resume && unsaved != null) throw notResumed(path, unsaved);
  const form: RowForm<T> | null = encoders[0]?.rows ?? null;
  if (form === null && options.receipt)
    throw new ConfigurationError(
      'invalid_option',
      `${path} cannot have a receipt: its rows are counted as they are encoded, by toNdjson(), toCsv(), toJsonArray() or toParquet(). Use one of these, or remove receipt.`,
    );

  const state = resume ? readPartState(path) : null;
  const metadata = state === null ? (options.metadata ?? null) : state.metadata;
  return Object.assign(
    (source: Parameters<Sink<T, FileWritten>>[0]) =>
      writeFile<T>(path, { ...options, metadata, encoders, form, state }, through(source)),
    { checkpoint: state?.checkpoint ?? null, metadata },
  );
}

const notResumed = (path: string, why: string): ConfigurationError =>
  new ConfigurationError(
    'invalid_option',
    `${path} cannot be resumed: ${why}. Remove resume, or write NDJSON or CSV behind createCallStream().`,
  );

const byEnding: Readonly<Record<string, () => AnyOperator>> = {
  csv: () => toCsv(),
  ndjson: () => toNdjson(),
  json: () => toJsonArray(),
  parquet: () => toParquet(),
};

function encodersOf(path: string): readonly AnyOperator[] {
  const [, ending = '', gzip] = /\.(csv|ndjson|json|parquet(?!\.))(\.gz)?$/i.exec(path) ?? [];
  const make = byEnding[ending.toLowerCase()];
  if (make === undefined)
    throw new ConfigurationError(
      'invalid_option',
      `${path} does not say how it is encoded. Name it .csv, .ndjson, .json or .parquet, with .gz after the first three if you like; or set encode, as in fileSink(path, { encode: toCsv() })`,
    );

  return gzip === undefined ? [make()] : [make(), toGzip()];
}

interface Writing<T> extends Omit<FileSinkOptions<T>, 'encode'> {
  readonly encoders: readonly AnyOperator[];
  /** How rows are recognized again; null where they are bytes already. */
  readonly form: RowForm<T> | null;
  readonly state: PartState | null;
}

async function writeFile<T>(
  path: string,
  writing: Writing<T>,
  chain: Chain<T>,
): Promise<FileWritten> {
  const { encoders, form, state, resume = false, receipt = false, metadata } = writing;
  const rows: Rows = { count: 0, digest: new RowDigest(), accounts: new Set() };
  const counted = countRows<T>(rows, encoders.length === 0, receipt === false ? null : form);
  const bytes = chain.through(counted, ...encoders) as Chain<Uint8Array | string>;
  if (resume && bytes.unsaved !== null) throw notResumed(path, bytes.unsaved);
  const { part, checkpoint } = namesOf(path);
  const unlock = await lockFile(`${path}.lock`);
  let handle: FileHandle | null = null;
  let { bytes: length, checksum } = state ?? { bytes: 0, checksum: 0 };
  let hasState = state !== null;
  try {
    const hash = receipt === false ? null : createHash('sha256');
    handle = state === null ? await createFile(part) : await openVerified(path, state, hash);
    if (state === null) await rm(checkpoint, { force: true });
    const pace = new SavePace();
    for await (const page of bytes.pages(state?.checkpoint ?? null)) {
      // A run that was stopped for long may have lost its lock, and then must not write into the
      // file of the next one.
      await unlock.check();
      for (const item of page.items) {
        const chunk = typeof item === 'string' ? Buffer.from(item) : item;
        await handle.appendFile(chunk);
        checksum = crc32(chunk, checksum);
        hash?.update(chunk);
        length += chunk.length;
      }
      if (bytes.unsaved !== null || !pace.isDue) continue;
      await pace.save(async () => {
        await handle?.datasync();
        await unlock.check();
        const saved = seal({
          version: 1,
          bytes: length,
          checksum,
          checkpoint: page.checkpoint,
          metadata,
        });
        await writeWholeFile(checkpoint, `${JSON.stringify(saved)}\n`);
        hasState = true;
      });
    }
    await handle.sync();
    await unlock.check();
    const named = await stat(part, { bigint: true }).catch(() => null);
    if ((await handle.stat({ bigint: true })).ino !== named?.ino)
      throw refusal(path, `${part} was replaced while it was written`);
    let described: Receipt | null = null;
    if (hash !== null) {
      const writtenAt = new Date().toISOString();
      const accounts = [...rows.accounts].sort();
      const facts =
        typeof receipt === 'function' ? await receipt(accounts) : factsOf(chain, accounts);
      const { format, fields } = form as RowForm<T>;
      described = receiptOf(path, facts, {
        rows: { ...rows.digest.result(), format, fields },
        bytes: { length, sha256: hash.digest('hex') },
        writtenAt,
      });
    }
    await handle.close();
    // Until the new one is there, the file has none: a receipt never stands beside a file that it
    // does not describe.
    await removeReceipt(path);
    await rename(part, path);
    await syncFolder(path);
    if (described !== null) await writeWholeFile(receiptPath(path), sealed(described));
    await rm(checkpoint, { force: true });
  } catch (error) {
    await handle?.close();
    // What a saved checkpoint covers is kept.
    if (handle !== null && !hasState)
      await unlock.check().then(
        () => rm(part, { force: true }),
        () => {},
      );
    throw error;
  } finally {
    await unlock();
  }

  return { written: rows.count };
}

/** Opens an unfinished file, which has to be the one that was left, byte for byte. */
async function openVerified(
  path: string,
  state: PartState,
  hash: Hash | null,
): Promise<FileHandle> {
  const { part } = namesOf(path);
  if (readPartState(path)?.seal !== state.seal)
    throw new CheckpointError(
      'checkpoint_invalid',
      `Another run has written ${part} since this one began. Run again to continue after it.`,
    );

  const refuse = (what: string) => refusal(path, `${part} ${what}`);
  const handle = await openOwnFile(part, refuse, constants.O_RDWR | constants.O_APPEND);
  try {
    const { bytes } = state;
    if ((await handle.stat()).size < bytes)
      throw refuse('is shorter than the interrupted run left it');
    let checksum = 0;
    for await (const chunk of bytes > 0
      ? handle.createReadStream({ autoClose: false, end: bytes - 1 })
      : []) {
      checksum = crc32(chunk, checksum);
      hash?.update(chunk);
    }
    if (checksum !== state.checksum)
      throw refuse('is not what the interrupted run left: its checksum differs');
    await handle.truncate(bytes);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * What is on the disk of an unfinished file: how many bytes of it count, where the source resumes,
 * the caller's facts.
 */
interface PartState {
  readonly bytes: number;
  readonly checksum: number;
  readonly checkpoint: Checkpoint;
  readonly metadata: unknown;
  readonly seal: string;
}

const namesOf = (path: string) => ({ part: `${path}.partial`, checkpoint: `${path}.checkpoint` });

const refusal = (path: string, why: string): CheckpointError => {
  const { part, checkpoint } = namesOf(path);
  return new CheckpointError(
    'checkpoint_invalid',
    `${why}. Remove both to start over: ${part} and ${checkpoint}.`,
  );
};

/** The state of an unfinished file, or null when there is nothing to resume. */
function readPartState(path: string): PartState | null {
  const { part, checkpoint } = namesOf(path);
  if (!existsSync(part) || !existsSync(checkpoint)) return null;

  // Checked before they are read: a pipe in their place would be waited for.
  for (const name of [part, checkpoint]) {
    const strange = strangeFile(name);
    if (strange !== null) throw refusal(path, `${name} ${strange}`);
  }

  try {
    const state: PartState = JSON.parse(readFileSync(checkpoint, 'utf8'));
    if (isSealed(state)) return state;
  } catch {}

  throw refusal(path, `${checkpoint} cannot be read`);
}

/** What the source says of the read, which has ended. */
function factsOf(chain: Chain<unknown>, accounts: readonly string[]): ReceiptFacts {
  const {
    address = null,
    version = null,
    filter = null,
    from = null,
    to = null,
  } = chain.facts ?? {};
  return { source: address, accounts, version, filter, from, to, verdict: chain.verdict() };
}

/** The rows of a file so far: how many, and for its receipt which, and whose. */
interface Rows {
  count: number;
  digest: RowDigest;
  accounts: Set<string>;
}

function countRows<T>(rows: Rows, takesBytes: boolean, form: RowForm<T> | null): Operator<T, T> {
  return defineOperator<T, T>({
    name: 'rows',
    settings: { receipt: form !== null },
    gives: 'same',
    begin(state) {
      const before = state as (ReturnType<RowDigest['result']> & Pick<Receipt, 'accounts'>) | null;
      if (before !== null)
        Object.assign(rows, {
          count: before.count,
          digest: new RowDigest(before),
          accounts: new Set(before.accounts),
        });

      return {
        page(items) {
          if (!takesBytes && items[0] instanceof Uint8Array)
            throw new ConfigurationError(
              'invalid_option',
              'fileSink got bytes, which it would encode again: remove the encoder before it, or set encode: [] to write them as they are',
            );

          for (const item of form === null ? [] : items) {
            rows.digest.add((form as RowForm<T>).text(item));
            const account = propertyOf(item, 'acct_id');
            if (typeof account === 'string') rows.accounts.add(account);
          }

          rows.count += items.length;
          return items;
        },
        save: () => ({
          ...rows.digest.result(),
          count: rows.count,
          accounts: [...rows.accounts].sort(),
        }),
      };
    },
  });
}
