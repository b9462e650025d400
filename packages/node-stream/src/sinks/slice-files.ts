import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { Mark } from '../checkpoint/mark.ts';
import { writeWholeFile } from '../files/whole-file.ts';
import { beginEncoding, type Encoder, type Encoding } from './encoding.ts';
import { PartFile } from './part-file.ts';

/** Options of `sliceFiles`. */
export interface SliceFilesOptions<T> {
  /** Turns records into bytes, afresh for each file. */
  encode: Encoding<T>;
  /** Name of a slice's file, a different one for each. `until` is null behind the last mark. */
  name: (slice: { from: string | null; until: string | null }) => string;
  /** Go on where an earlier run into the same folder stopped: hand `sink.checkpoint` to the source. Default false. */
  resume?: boolean;
  /** Wait for the disk before a file gets its name. Default true. */
  durable?: boolean;
}

/** A folder of files, one per slice. */
export interface SliceFiles extends Writable {
  readonly folder: string;
  /** Where the source goes on, when an earlier run was taken up; null when the folder starts afresh. */
  readonly checkpoint: Checkpoint | null;
}

const unfinished = '.slice';
const placeFile = '.checkpoint.json';

/**
 * Writes one file per slice of a source with marks. Each gets its name when its slice is complete, so every file in the
 * folder is whole at any moment; slices without records leave no file. Works with every format, Parquet too.
 */
export function sliceFiles<T = unknown>(folder: string, options: SliceFilesOptions<T>): SliceFiles {
  return new SliceFileSink(folder, options);
}

class SliceFileSink<T> extends Writable implements SliceFiles {
  readonly folder: string;
  readonly checkpoint: Checkpoint | null;
  readonly #options: SliceFilesOptions<T>;
  readonly #abort = new AbortController();
  readonly #names = new Set<string>();
  #place: Place = { version: 1, until: null, checkpoint: null };
  #current: { file: PartFile; encoder: Encoder<T> } | null = null;

  constructor(folder: string, options: SliceFilesOptions<T>) {
    super({ objectMode: true });
    this.folder = folder;
    this.#options = options;
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) if (name.startsWith(unfinished)) rmSync(join(folder, name));
    const place = options.resume ? readPlace(join(folder, placeFile)) : null;
    this.checkpoint = place?.checkpoint ?? null;
    // A slice that got its name but not its place is read again, and then it may be cut in another way.
    if (place?.writing != null) rmSync(join(folder, place.writing), { force: true });
    if (place !== null) this.#place = place;
    if (place?.name != null) this.#names.add(place.name);
  }

  override _write(item: T | Mark, _encoding: string, callback: (error?: Error | null) => void): void {
    const work = item instanceof Mark ? this.#close(item) : this.#add(item);
    work.then(() => callback(), callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#close(null).then(() => callback(), callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#abort.abort();
    const abandoned = this.#current?.file.abandon() ?? Promise.resolve();
    abandoned.then(() => callback(error), callback);
  }

  async #add(item: T): Promise<void> {
    if (this.#current === null) {
      const file = new PartFile(join(this.folder, unfinished), this.#options.durable ?? true);
      this.#current = { file, encoder: beginEncoding(this.#options.encode, false, this.#abort.signal) };
      await file.open(null);
    }
    const { file, encoder } = this.#current;
    for (const chunk of await encoder.push(item)) await file.write(chunk);
  }

  async #close(mark: Mark | null): Promise<void> {
    const slice = { from: mark ? mark.from : this.#place.until, until: mark ? mark.until : null };
    if (this.#current) {
      const { file, encoder } = this.#current;
      for (const chunk of await encoder.end()) await file.write(chunk);
      const writing = this.#nameOf(slice);
      await this.#save({ ...this.#place, writing });
      await file.finish(join(this.folder, writing));
      this.#current = null;
    }
    if (mark === null) return rmSync(join(this.folder, placeFile), { force: true });
    const name = [...this.#names].at(-1);
    const { until, checkpoint } = mark;
    this.#place = { version: 1, until, ...(name === undefined ? {} : { name }), checkpoint };
    await this.#save(this.#place);
  }

  #save(place: Place): Promise<void> {
    const { durable = true } = this.#options;
    return writeWholeFile(join(this.folder, placeFile), `${JSON.stringify(place)}\n`, { durable });
  }

  #nameOf(slice: { from: string | null; until: string | null }): string {
    const name = this.#options.name(slice);
    if (this.#names.has(name)) {
      throw new Error(
        `the slice from ${slice.from} has the name of an earlier one, ${name}; give each slice its own`,
      );
    }
    this.#names.add(name);
    return name;
  }
}

interface Place {
  readonly version: 1;
  readonly until: string | null;
  /** The last file that counts, and the one that is about to get its name. */
  readonly name?: string;
  readonly writing?: string;
  readonly checkpoint: Checkpoint | null;
}

function readPlace(path: string): Place | null {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  try {
    const place = JSON.parse(readFileSync(path, 'utf8'));
    if (place.version === 1) return place;
  } catch {}
  throw new Error(`${path} cannot be read as a checkpoint; remove it to start afresh`);
}
