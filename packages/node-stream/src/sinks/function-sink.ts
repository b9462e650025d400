import { readFile, rm } from 'node:fs/promises';
import { type Clock, monotonicClock, sleep } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { CheckpointError } from '../errors.ts';
import { hasCode } from '../files/own-file.ts';
import { writeWholeFile } from '../files/whole-file.ts';
import type { ChainCheckpoint } from '../operators/chain-checkpoint.ts';
import type { Chain, Sink } from '../operators/forms.ts';
import { defineSink, SavePace } from './sink.ts';

/** Where the position of a sink is kept. */
export interface PositionStore {
  /** What was saved last; null when there is nothing. */
  load(): Promise<ChainCheckpoint | null> | ChainCheckpoint | null;
  /** Keeps a position in place of the one before. Null after the end. */
  save(checkpoint: ChainCheckpoint | null): Promise<void> | void;
}

/**
 * Keeps a position in a file, written under another name and renamed.
 *
 * @example
 * sink(post, { position: filePosition('hours.position.json') });
 */
export function filePosition(path: string): PositionStore {
  return {
    async load() {
      const text = await readFile(path, 'utf8').catch((error: unknown) => {
        if (hasCode(error, 'ENOENT')) return null;
        throw error;
      });
      if (text === null) return null;
      try {
        return JSON.parse(text);
      } catch (cause) {
        throw new CheckpointError(
          'checkpoint_invalid',
          `${path} is not a checkpoint. Remove it to start over.`,
          { cause },
        );
      }
    },
    async save(checkpoint) {
      if (checkpoint === null) await rm(path, { force: true });
      else await writeWholeFile(path, `${JSON.stringify(checkpoint)}\n`);
    },
  };
}

/** What the function of a sink is told. */
export interface SinkContext {
  /** Aborts when another batch has failed for good. */
  readonly signal: AbortSignal;
  /** Which try this is, from 1. */
  readonly attempt: number;
}

const functionSinkOptions = defineOptions({
  /** Most items in a call. Default 500. */
  batch: option.whole(1).default(500),
  /** How often a batch is tried again when the function fails. Default 3. */
  retries: option.whole(0).default(3),
  /** The pause before the first retry, doubled for each further one. Default `1s`. */
  delay: option.duration().default('1s'),
  /** How many calls may run at the same time. Default 1. */
  concurrency: option.whole(1).default(1),
  /** Where the position is kept, for a read that goes on after a crash. Default: nowhere. */
  position: option.object<PositionStore>(),
  /** The clock of the pauses. Default: that of the machine. */
  clock: option.object<Clock>().default(monotonicClock),
});

/** Settings of `sink`. */
export interface FunctionSinkOptions extends OptionsOf<typeof functionSinkOptions> {}

/** What was delivered. */
export interface Delivered {
  /** Items in this run. */
  readonly written: number;
}

/**
 * Calls a function with batches of items, and again when it fails. With `position`, a read that was killed goes on after the last batch
 * before which all others were done: each item is delivered at least once, and those on their way at the time of the kill again.
 *
 * @example
 * await hours.into(sink((rows, { signal }) => post(rows, signal), { batch: 100, retries: 5, concurrency: 4 }));
 */
export function sink<T>(
  deliver: (items: readonly T[], context: SinkContext) => unknown,
  options: FunctionSinkOptions = {},
): Sink<T, Delivered> {
  const settings = functionSinkOptions.read(options);
  const { position } = settings;
  return defineSink(async (chain: Chain<T>) => {
    if (position !== undefined && chain.unsaved !== null)
      throw new ConfigurationError('invalid_option', `the read cannot be resumed: ${chain.unsaved}`);
    const flight = new Flight<T>(deliver, settings);
    const checkpoint = (await position?.load()) ?? null;
    let held: T[] = [];
    try {
      for await (const page of chain.pages({ checkpoint })) {
        const all = held.length === 0 ? page.items : [...held, ...page.items];
        const isDue = position !== undefined && flight.pace.isDue;
        // A position covers what was delivered: what it would leave behind goes out with it.
        const whole = isDue ? all.length : all.length - (all.length % settings.batch);
        for (let at = 0; at < whole; at += settings.batch)
          await flight.send(all.slice(at, Math.min(at + settings.batch, whole)));
        held = all.slice(whole);
        if (isDue) flight.reached(page.checkpoint);
      }
      if (held.length > 0) await flight.send(held);
      await flight.landed();
    } finally {
      await flight.close();
    }
    await position?.save(null);
    return { written: flight.written };
  });
}

interface FlightSettings {
  readonly retries: number;
  readonly delay: number;
  readonly concurrency: number;
  readonly position?: PositionStore | undefined;
  readonly clock: Clock;
}

/** Batches on their way, in order. */
class Flight<T> {
  readonly pace: SavePace;
  written = 0;
  readonly #deliver: (items: readonly T[], context: SinkContext) => unknown;
  readonly #settings: FlightSettings;
  readonly #abort = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Resolves when all that was begun so far is done, and its positions are saved. */
  #before: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;

  constructor(deliver: (items: readonly T[], context: SinkContext) => unknown, settings: FlightSettings) {
    this.#deliver = deliver;
    this.#settings = settings;
    this.pace = new SavePace(() => settings.clock.now());
  }

  /** Begins a batch, once there is room for it. */
  async send(items: readonly T[]): Promise<void> {
    while (this.#failure === null && this.#running.size >= this.#settings.concurrency)
      await Promise.race(this.#running);
    this.#throwIfFailed();
    const work = this.#try(items).then(
      () => {
        this.written += items.length;
      },
      (error: unknown) => {
        this.#failure ??= { error };
        this.#abort.abort(error);
      },
    );
    this.#running.add(work);
    void work.then(() => this.#running.delete(work));
    this.#before = Promise.all([this.#before, work]).then(() => {});
  }

  /** All batches that were begun belong to this position: it is saved when they are done. */
  reached(checkpoint: ChainCheckpoint | null): void {
    const { position } = this.#settings;
    if (position === undefined || checkpoint === null) return;
    this.#before = this.#before.then(async () => {
      if (this.#failure !== null) return;
      await this.pace.save(async () => position.save(checkpoint));
    });
    this.#before.catch((error: unknown) => {
      this.#failure ??= { error };
    });
  }

  /** Waits for everything. */
  async landed(): Promise<void> {
    await this.#before;
    this.#throwIfFailed();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#before.catch(() => {});
  }

  #throwIfFailed(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #try(items: readonly T[]): Promise<void> {
    const { retries, delay, clock } = this.#settings;
    const { signal } = this.#abort;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#deliver(items, { signal, attempt });
        return;
      } catch (error) {
        if (attempt > retries || signal.aborted) throw error;
      }
      await sleep(clock, delay * 2 ** (attempt - 1), signal);
    }
  }
}
