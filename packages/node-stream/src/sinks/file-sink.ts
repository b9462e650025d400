import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { toCsv } from '../encoders/csv.ts';
import { toGzip } from '../encoders/gzip.ts';
import { toParquet } from '../encoders/parquet.ts';
import { toJsonArray, toNdjson } from '../encoders/text.ts';
import { defineOperator, through } from '../operators/chain.ts';
import type { AnyOperator, Chain, Operator, RowForm, Sink } from '../operators/operator.ts';
import type { Checkpoint } from '../page.ts';
import { type Receipt, type ReceiptFacts, RowDigest, receiptOf } from '../receipts/receipt.ts';
import { openPart, type PartState, readPartState } from './part-file.ts';
import { SavePace } from './store-sink.ts';

/** What turns the items of a sink into bytes: one encoder, or several in a row such as `[toCsv(), toGzip()]`; `[]` for bytes and strings. */
export type Encoding<T> =
  | Operator<T, Uint8Array>
  | readonly [Operator<T, Uint8Array>, ...Operator<Uint8Array, Uint8Array>[]]
  | (T extends Uint8Array | string ? readonly [] : never);

/** A name that says how a file is encoded. */
export type EncodedName = `${string}.${'csv' | 'ndjson' | 'json'}${'' | '.gz'}` | `${string}.parquet`;

/** Says where the records of a file come from. `accounts`: the IDs in the records. */
export type ReceiptMaker = (accounts: readonly string[]) => ReceiptFacts | Promise<ReceiptFacts>;

/** Settings of `fileSink`. */
export interface FileSinkOptions<T> {
  /** Turns records into bytes, for columns of your choice. Default: what the name of the file says. */
  encode?: Encoding<T>;
  /** Continue an unfinished file of the same path. Default false: start over. */
  resume?: boolean;
  /**
   * Facts to keep with the checkpoint, as plain JSON: what the file was begun with, for instance. A run that resumes the
   * file finds them in `sink.metadata`.
   */
  metadata?: unknown;
  /**
   * Write `<path>.receipt.json` next to the complete file: where the records come from, what was proved of the read, how many
   * rows the file has, a digest of them that does not depend on their order, length and SHA-256 of the bytes. `true` takes
   * what the source says of the read. A function gives it instead: it is called at the end with the
   * IDs of the accounts in the records. Default false.
   */
  receipt?: boolean | ReceiptMaker;
}

/** What was written. */
export interface FileWritten {
  /** The file. */
  readonly path: string;
  /** Its length. */
  readonly bytes: number;
  /** Rows in it, of earlier runs too; chunks, where they are bytes already. */
  readonly written: number;
}

/** A file that appears under its name when it is complete. */
export type FileSink<T> = Sink<T, FileWritten> & {
  /** The name of the finished file. */
  readonly path: string;
  /** Where the source goes on, for an unfinished file; null when the file is begun from its start. */
  readonly checkpoint: Checkpoint | null;
  /** What the file was begun with: of the earlier run when an unfinished file is resumed, else the option. */
  readonly metadata: unknown;
};

/**
 * Writes `<path>.partial` and renames it to `path` when it is complete: a reader never sees half a file, and an earlier
 * file stays until then. How it is encoded follows from its name: `.csv`, `.ndjson`, `.json` or `.parquet`, and `.gz` after the first
 * three. The bytes are made durable now and then, and the position is saved with them in `<path>.checkpoint`. A run that was cut off, even
 * by SIGKILL, continues with `resume`, without a lost or doubled row: what came after the position is cut off. `<path>.lock` keeps a second
 * writer out, on machines that share the folder too. A part that was replaced or shortened since is refused, as are another chain, other
 * columns and another encoding. The receipt of an earlier file is removed when the new one gets its name.
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
    { path, checkpoint: state?.checkpoint ?? null, metadata },
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

/** The encoders that the name of a file tells of. */
function encodersOf(path: string): readonly AnyOperator[] {
  const [, ending = '', gzip] = /\.(csv|ndjson|json|parquet)(\.gz)?$/i.exec(path) ?? [];
  const make = byEnding[ending.toLowerCase()];
  if (make === undefined || (gzip !== undefined && make === byEnding.parquet))
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

async function writeFile<T>(path: string, writing: Writing<T>, chain: Chain<T>): Promise<FileWritten> {
  const { encoders, form, state, resume = false, receipt = false, metadata } = writing;
  const rows = new FileRows<T>(encoders.length === 0, receipt === false ? null : form);
  const bytes = chain.through(rows.operator, ...encoders) as Chain<Uint8Array | string>;
  if (resume && bytes.unsaved !== null) throw notResumed(path, bytes.unsaved);
  const file = await openPart(path, state, receipt !== false);
  const pace = new SavePace();
  try {
    for await (const page of bytes.pages(state?.checkpoint ?? null)) {
      for (const chunk of page.items)
        await file.write(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      if (bytes.unsaved === null && pace.isDue) await pace.save(() => file.save(page.checkpoint, metadata));
    }
    await file.finish(async (sums) => {
      const writtenAt = new Date().toISOString();
      const accounts = [...rows.accounts].sort();
      const facts = typeof receipt === 'function' ? await receipt(accounts) : await factsOf(chain, accounts);
      const { format, fields } = form as RowForm<T>;
      return receiptOf(path, facts, {
        rows: { ...rows.digest.result(), format, fields },
        bytes: sums,
        writtenAt,
      });
    });
  } catch (error) {
    await file.abandon();
    throw error;
  }
  return { path, bytes: file.bytes, written: rows.count };
}

/** What the source says of the read, which has ended. */
async function factsOf(chain: Chain<unknown>, accounts: readonly string[]): Promise<ReceiptFacts> {
  const { address = null, version = null, filter = null, from = null, to = null } = chain.facts ?? {};
  return { source: address, accounts, version, filter, from, to, verdict: await chain.verdict };
}

/** The rows of a file so far, on their way to the encoder: how many, and for its receipt which, and whose. */
class FileRows<T> {
  readonly operator: Operator<T, T>;
  count = 0;
  digest = new RowDigest();
  accounts = new Set<string>();

  constructor(takesBytes: boolean, form: RowForm<T> | null) {
    this.operator = defineOperator<T, T>({
      name: 'rows',
      settings: { receipt: form !== null },
      gives: 'same',
      begin: (state) => {
        const before = state as (ReturnType<RowDigest['result']> & Pick<Receipt, 'accounts'>) | null;
        this.count = before?.count ?? 0;
        this.digest = new RowDigest(before ?? undefined);
        this.accounts = new Set(before?.accounts);
        return {
          page: (items) => {
            checkKind(items[0], takesBytes);
            for (const item of form === null ? [] : items) {
              this.digest.add((form as RowForm<T>).text(item));
              const account = propertyOf(item, 'acct_id');
              if (typeof account === 'string') this.accounts.add(account);
            }
            this.count += items.length;
            return items;
          },
          save: () => ({
            ...this.digest.result(),
            count: this.count,
            accounts: [...this.accounts].sort(),
          }),
        };
      },
    });
  }
}

/** Refuses records where bytes are written as they are, and bytes where records are encoded. */
function checkKind(item: unknown, takesBytes: boolean): void {
  if (item === undefined) return;
  const isBytes = item instanceof Uint8Array || (takesBytes && typeof item === 'string');
  if (isBytes === takesBytes) return;
  throw new ConfigurationError(
    'invalid_option',
    takesBytes
      ? `fileSink got a ${typeof item} where it was told to write bytes as they are; set encode, or leave it out`
      : 'fileSink got bytes, which it would encode again: remove the encoder before it, or set encode: [] to write them as they are',
  );
}
