import { kinds, type OptionKind, type OptionShape } from '@call-attribution/core/errors';
import type { Outlet } from '../operators/kernel.ts';
import { atLeastOne } from '../option-kinds.ts';

/** Settings of every text encoder. */
export interface TextOptions {
  /** Approximate size of the chunks, in bytes. With 1, each record is a chunk. Default 65,536. */
  chunkBytes?: number | undefined;
  /** The output continues earlier output of the same encoder: no header, no opening bracket. Default false. */
  continued?: boolean | undefined;
}

/** The options of every text encoder. */
export const textShape = {
  chunkBytes: atLeastOne,
  continued: kinds.flag,
} satisfies OptionShape & Record<keyof TextOptions, OptionKind>;

/** Gathers strings and emits them as UTF-8 in large chunks. */
export interface TextChunks {
  /** Adds a string; emits a chunk when it is large enough. */
  add(text: string): void;
  /** Emits the rest. */
  flush(): void;
}

/**
 * Encodes each string into the chunk at once: that is twice as fast as joining many short strings first, and a string with
 * characters outside Latin-1 does not slow down the others.
 */
export function textChunks(outlet: Outlet<Uint8Array>, options: TextOptions): TextChunks {
  const size = options.chunkBytes ?? 65_536;
  let chunk = Buffer.alloc(0);
  let used = 0;
  const flush = () => {
    if (used > 0) outlet.emit(chunk.subarray(0, used));
    chunk = chunk.subarray(used);
    used = 0;
  };
  return {
    add(text) {
      const most = text.length * 3;
      if (chunk.length - used < most) {
        flush();
        chunk = Buffer.allocUnsafeSlow(Math.max(size, most));
      }
      used += chunk.write(text, used);
      if (used >= size) flush();
    },
    flush,
  };
}
