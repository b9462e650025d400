import { Readable } from 'node:stream';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import type { ReadableOf } from './operator.ts';

const teeOptions = defineOptions({
  /** Items a branch may hold for its reader. Default 16. */
  highWaterMark: option.whole(1).default(16),
});

/** Settings of `tee`. */
export interface TeeOptions extends OptionsOf<typeof teeOptions> {}

/**
 * Gives every item to each of several readers, at the pace of the slowest, so that nothing piles up. A branch that is
 * destroyed no longer counts; when all are, the source ends. A failing source fails every branch.
 *
 * @example
 * const [file, report] = tee(createCallStream(client), 2);
 */
export function tee<T>(
  source: Iterable<T> | AsyncIterable<T>,
  branches?: 2,
  options?: TeeOptions,
): [ReadableOf<T>, ReadableOf<T>];
/** The same for any number of readers. */
export function tee<T>(
  source: Iterable<T> | AsyncIterable<T>,
  branches: number,
  options?: TeeOptions,
): ReadableOf<T>[];
export function tee<T>(
  source: Iterable<T> | AsyncIterable<T>,
  branches = 2,
  options: TeeOptions = {},
): Readable[] {
  const { highWaterMark } = teeOptions.read(options);
  if (!(branches >= 1))
    throw new ConfigurationError('invalid_option', `branches is ${branches}; expected at least 1`);
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const full = new Set<Readable>();
  const live = new Set<Readable>();
  let pumping = false;
  let done = false;

  const pump = async () => {
    while (!done && live.size > 0 && full.size === 0) {
      const { done: ended, value } = await iterator.next();
      done ||= ended === true;
      for (const branch of live) {
        if (!branch.push(done ? null : value)) full.add(branch);
      }
    }
  };
  const more = () => {
    if (pumping) return;
    pumping = true;
    pump().then(
      () => {
        pumping = false;
        if (!done && live.size > 0 && full.size === 0) more();
      },
      (error) => {
        done = true;
        for (const branch of live) branch.destroy(error);
      },
    );
  };
  const leave = (branch: Readable) => {
    full.delete(branch);
    live.delete(branch);
    if (live.size > 0) more();
    else if (!done) {
      done = true;
      if (source instanceof Readable) source.destroy();
      else void Promise.resolve(iterator.return?.()).catch(() => {});
    }
  };
  for (let index = 0; index < branches; index += 1) {
    const branch: Readable = new Readable({
      objectMode: true,
      highWaterMark,
      read() {
        full.delete(branch);
        if (full.size === 0) more();
      },
      destroy(error, callback) {
        leave(branch);
        callback(error);
      },
    });
    live.add(branch);
  }
  return [...live];
}
