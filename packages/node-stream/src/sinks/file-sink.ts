import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import { isReadFacts } from '../calls/read-facts.ts';
import type { Chain, Sink } from '../operators/forms.ts';
import { encoding } from '../option-kinds.ts';
import type { Checkpoint } from '../reader/checkpoint.ts';
import { type Encoding, encoders } from './encoding.ts';
import { FileRows, type ReceiptMaker } from './file-rows.ts';
import { PartFile, type PartState, readPartState } from './part-file.ts';
import { defineSink, SavePace } from './sink.ts';

const fileSinkOptions = <T>() =>
  defineOptions({
    /** Turns records into bytes. Without it, the sink takes bytes and strings as they are. */
    encode: encoding<Encoding<T>>(),
    /** Continue an unfinished file of the same path. Default false: start over. */
    resume: option.flag().default(false),
    /** Wait for the disk at each position and at the end, so that a power failure loses nothing. Default true. */
    durable: option.flag().default(true),
    /**
     * Facts to keep with the checkpoint, as plain JSON: what the file was begun with, for instance. A run that resumes the
     * file finds them in `sink.metadata`.
     */
    metadata: option.anything(),
    /**
     * Write `<path>.receipt.json` next to the complete file: where the records come from, what was proved of the read, how many
     * rows the file has, a digest of them that does not depend on their order, length and SHA-256 of the bytes. `true` takes
     * what the source says of the read. A function gives it instead: it is called at the end with the
     * IDs of the accounts in the records. Default false.
     */
    receipt: option.flag().or(option.callback<ReceiptMaker>()).default(false),
    /** The clock of the receipt. Default: that of the machine. */
    clock: option.clock(),
  });

/** Settings of `fileSink`. */
export interface FileSinkOptions<T> extends OptionsOf<typeof fileSinkOptions<T>> {}

/** What was written. */
export interface FileWritten {
  /** The file. */
  readonly path: string;
  /** Its length. */
  readonly bytes: number;
  /** Rows in it, of earlier runs too; without `encode`, chunks of bytes. */
  readonly written: number;
}

/** A file that appears under its name when it is complete. */
export interface FileSink<T> extends Sink<T, FileWritten> {
  /** The name of the finished file. */
  readonly path: string;
  /** Where the source goes on, for an unfinished file; null when the file is begun from its start. */
  readonly checkpoint: Checkpoint | null;
  /** What the file was begun with: of the earlier run when an unfinished file is resumed, else the option. */
  readonly metadata: unknown;
}

/**
 * Writes `<path>.partial` and renames it to `path` when it is complete: a reader never sees half a file, and an earlier
 * file stays until then. Behind a stream of calls, or a chain of operators over one, the bytes are made durable now and then, and the
 * position is saved with them in `<path>.checkpoint`. A run that was cut off, even by SIGKILL, continues with `resume`, without a lost or
 * doubled row: what came after the position is cut off. `<path>.lock` keeps a second writer out, on machines that share the folder too.
 * A part that was replaced, shortened or copied since is refused, as are another chain, other columns and another encoding. The receipt
 * of an earlier file is removed when the new one gets its name.
 *
 * @example
 * await createCallStream(client).into(fileSink('calls.csv', { encode: toCsv(), resume: true }));
 */
export function fileSink<T = Uint8Array | string>(
  path: string,
  options: FileSinkOptions<T> = {},
): FileSink<T> {
  const settings = fileSinkOptions<T>().read(options);
  const { resume, encode, metadata = null } = settings;
  const unsaved = encode && encoders<T>(encode).find((each) => each.unsaved !== null)?.unsaved;
  if (resume && unsaved != null) throw notResumed(path, unsaved);
  const rows = new FileRows<T>(path, settings);
  const state = resume ? readPartState(path) : null;
  return Object.assign(
    defineSink<T, FileWritten>((chain) => writeFile(path, settings, state, rows, chain)),
    {
      path,
      checkpoint: state?.checkpoint ?? null,
      metadata: state === null ? metadata : (state.metadata ?? null),
    },
  );
}

const notResumed = (path: string, why: string): ConfigurationError =>
  new ConfigurationError(
    'invalid_option',
    `${path} cannot be resumed: ${why}. Remove resume, or write something that can be continued, such as NDJSON or CSV behind createCallStream().`,
  );

async function writeFile<T>(
  path: string,
  { encode, durable, resume, receipt, metadata = null }: ReadOf<typeof fileSinkOptions<T>>,
  state: PartState | null,
  rows: FileRows<T>,
  chain: Chain<T>,
): Promise<FileWritten> {
  const bytes = encodedBy(chain.through(rows.operator), encode);
  if (resume && bytes.unsaved !== null) throw notResumed(path, bytes.unsaved);
  const file = new PartFile(path, { durable, hash: receipt !== false });
  const pace = new SavePace();
  const kept = state === null ? metadata : (state.metadata ?? null);
  try {
    await file.open(state);
    for await (const page of bytes.pages({ checkpoint: state?.checkpoint ?? null })) {
      for (const chunk of page.items)
        await file.write(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      if (!pace.isDue) continue;
      await pace.save(async () => {
        const { checkpoint } = page;
        if (checkpoint !== null) await file.save(checkpoint as Checkpoint, kept);
      });
    }
    await file.finish(path, (sums) => rows.receipt(sums, isReadFacts(chain.facts) ? chain.facts : null));
  } catch (error) {
    await file.abandon();
    throw error;
  }
  return { path, bytes: file.bytes, written: rows.count };
}

/** The bytes of the items. Without encoders, they are bytes or strings already. */
function encodedBy<T>(chain: Chain<T>, encode: Encoding<T> | undefined): Chain<Uint8Array | string> {
  if (encode === undefined) return chain as unknown as Chain<Uint8Array | string>;
  const [first, ...rest] = encoders(encode);
  return rest.reduce<Chain<Uint8Array>>((bytes, next) => bytes.through(next), chain.through(first));
}
