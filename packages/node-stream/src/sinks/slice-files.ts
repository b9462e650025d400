import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { Mark } from '../checkpoint/mark.ts';
import { CheckpointError, ItemError } from '../errors.ts';
import type { Unlock } from '../files/file-lock.ts';
import { pathInside, strangeFile } from '../files/own-file.ts';
import { writeWholeFile } from '../files/whole-file.ts';
import { encoding } from '../option-kinds.ts';
import { beginEncoding, type Encoder, type Encoding } from './encoding.ts';
import { lockTarget, PartFile, whileLettingGo } from './part-file.ts';

const sliceFilesOptions = <T>() =>
  defineOptions({
    /** Turns the records of each file into bytes. */
    encode: encoding<Encoding<T>>().required(),
    /** The file name of a slice; each needs a different one. `from` and `until` are null at the ends of the query. */
    name: option.callback<(slice: { from: string | null; to: string | null }) => string>().required(),
    /** Continue where an earlier run into the same folder stopped: pass `sink.checkpoint` to the source. Default false. */
    resume: option.flag().default(false),
    /** Wait for the disk before a file gets its name. Default true. */
    durable: option.flag().default(true),
  });

/** Settings of `sliceFiles`. */
export interface SliceFilesOptions<T> extends OptionsOf<typeof sliceFilesOptions<T>> {}

/** A folder of files, one per slice. */
export interface SliceFiles extends Writable {
  /** The folder of the files. */
  readonly folder: string;
  /** Where the source resumes, when an earlier run is continued; null for a new one. */
  readonly checkpoint: Checkpoint | null;
}

const unfinished = '.slice';
/** What a run that was killed has left of an unfinished slice. */
const leftOver = /^\.slice\.(?:partial|checkpoint)(?:\.[\da-f]{12}\.new)?$/;
const lockName = '.lock';
const stateFile = '.checkpoint.json';

/**
 * Writes one file per slice of a source with marks. Each gets its name when its slice is complete, so every file in the
 * folder is complete at any moment. One run at a time may write into a folder, and a copy of an unfinished folder is not
 * resumed. Slices without records leave no file. Works with every format, Parquet included.
 *
 * @example
 * const name = ({ from }) => `calls-${from ?? 'start'}.parquet`;
 * const folder = sliceFiles('calls', { encode: toParquet(), name, resume: true });
 * const { checkpoint } = folder;
 * await pipeline(createCallStream(client, { checkpoint, marks: true }), folder);
 */
export function sliceFiles<T = unknown>(folder: string, options: SliceFilesOptions<T>): SliceFiles {
  return new SliceFileSink(folder, sliceFilesOptions<T>().read(options));
}

class SliceFileSink<T> extends Writable implements SliceFiles {
  readonly folder: string;
  readonly checkpoint: Checkpoint | null;
  readonly #options: ReadOf<typeof sliceFilesOptions<T>>;
  readonly #abort = new AbortController();
  readonly #names = new Set<string>();
  #unlock: Unlock | null = null;
  #hasBegun = false;
  #state: FolderState;
  #current: { file: PartFile; encoder: Encoder<T> } | null = null;

  constructor(folder: string, options: ReadOf<typeof sliceFilesOptions<T>>) {
    super({ objectMode: true });
    this.folder = folder;
    this.#options = options;
    mkdirSync(folder, { recursive: true });
    const state = options.resume ? readState(folder) : null;
    this.checkpoint = state?.checkpoint ?? null;
    this.#state = state ?? { version: 1, to: null, checkpoint: null, folder: numberOf(folder) };
    if (state?.name != null) this.#names.add(state.name);
  }

  override _write(item: T | Mark, _encoding: string, callback: (error?: Error | null) => void): void {
    const work = this.#begin().then(() => (item instanceof Mark ? this.#close(item) : this.#add(item)));
    work.then(() => callback(), callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#begin()
      .then(() => this.#close(null))
      .then(() => this.#letGo())
      .then(() => callback(), callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#abort.abort();
    const abandoned = this.#current?.file.abandon() ?? Promise.resolve();
    const done = abandoned.then(() => this.#letGo());
    whileLettingGo(join(this.folder, lockName), done);
    done.then(() => callback(error), callback);
  }

  /** Nobody else writes into the folder from here on: only now may anything be removed. */
  async #begin(): Promise<void> {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { folder } = this;
    this.#unlock = await lockTarget(folder, join(folder, lockName));
    const state = this.#options.resume ? readState(folder) : null;
    if (state !== null && JSON.stringify(state) !== JSON.stringify(this.#state))
      throw new CheckpointError(
        'checkpoint_mismatch',
        `Another run has written into ${folder} since this one began. Run again to continue after it.`,
      );
    for (const name of readdirSync(folder)) if (leftOver.test(name)) rmSync(join(folder, name));
    // A slice that got its name, but whose position was not saved, is read again and may be cut differently then.
    if (state?.writing == null) return;
    const written = await pathInside(folder, state.writing);
    if (written === null)
      throw new CheckpointError(
        'checkpoint_invalid',
        `${join(folder, stateFile)} names a file outside of ${folder}. Remove it to start over.`,
      );
    rmSync(written, { force: true });
  }

  async #letGo(): Promise<void> {
    const unlock = this.#unlock;
    this.#unlock = null;
    await unlock?.();
  }

  async #add(item: T): Promise<void> {
    if (this.#current === null) {
      const file = new PartFile(join(this.folder, unfinished), {
        durable: this.#options.durable,
        isLocked: true,
      });
      this.#current = { file, encoder: beginEncoding(this.#options.encode, false, this.#abort.signal) };
      await file.open(null);
    }
    const { file, encoder } = this.#current;
    for (const chunk of await encoder.push(item)) await file.write(chunk);
  }

  async #close(mark: Mark | null): Promise<void> {
    const slice = { from: mark ? mark.from : this.#state.to, to: mark ? mark.to : null };
    if (this.#current) {
      const { file, encoder } = this.#current;
      for (const chunk of await encoder.end()) await file.write(chunk);
      const writing = this.#nameOf(slice);
      await this.#unlock?.check();
      await this.#save({ ...this.#state, writing });
      await file.finish(join(this.folder, writing));
      this.#current = null;
    }
    if (mark === null) return rmSync(join(this.folder, stateFile), { force: true });
    const name = [...this.#names].at(-1);
    const { to, checkpoint } = mark;
    const { folder } = this.#state;
    this.#state = { version: 1, to, ...(name === undefined ? {} : { name }), checkpoint, folder };
    await this.#save(this.#state);
  }

  #save(state: FolderState): Promise<void> {
    const { durable } = this.#options;
    return writeWholeFile(join(this.folder, stateFile), `${JSON.stringify(state)}\n`, { durable });
  }

  #nameOf(slice: { from: string | null; to: string | null }): string {
    const name = this.#options.name(slice);
    if (this.#names.has(name)) {
      throw new ItemError(
        'repeated_name',
        `the slice from ${slice.from} has the same name as an earlier one, ${name}; give each slice a name of its own`,
      );
    }
    this.#names.add(name);
    return name;
  }
}

/** What is on the disk of an unfinished folder. */
interface FolderState {
  readonly version: 1;
  readonly to: string | null;
  /** The last file that counts, and the one that is about to get its name. */
  readonly name?: string;
  readonly writing?: string;
  readonly checkpoint: Checkpoint | null;
  /** The number of the folder in its file system. */
  readonly folder: string;
}

function readState(folder: string): FolderState | null {
  const path = join(folder, stateFile);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  const strange = strangeFile(path);
  if (strange !== null)
    throw new CheckpointError('checkpoint_invalid', `${path} ${strange}. Remove it to start over.`);
  const state = parsed(readFileSync(path, 'utf8'));
  if (state === null)
    throw new CheckpointError('checkpoint_invalid', `${path} is not a checkpoint. Remove it to start over.`);
  if (state.folder !== numberOf(folder))
    throw new CheckpointError(
      'checkpoint_invalid',
      `${folder} is a copy: it is not the folder that the interrupted run wrote. Resume there, or remove ${path} to start over here.`,
    );
  return state;
}

function parsed(text: string): FolderState | null {
  try {
    const state = JSON.parse(text);
    return state.version === 1 ? state : null;
  } catch {
    return null;
  }
}

/** The number of a folder in its file system: it stays when the folder is renamed, and a copy has another. */
const numberOf = (folder: string): string => String(statSync(folder, { bigint: true }).ino);
