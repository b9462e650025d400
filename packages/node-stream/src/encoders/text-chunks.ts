import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import type { Outlet } from '../operators/kernel.ts';
import { atLeastOne } from '../option-kinds.ts';

/** The options of every text encoder. */
export const textOptions = defineOptions({
  /** Approximate size of the chunks, in bytes. With 1, each record is a chunk. Default 65,536. */
  chunkBytes: atLeastOne().default(65_536),
  /** The output continues earlier output of the same encoder: no header, no opening bracket. Default false. */
  continued: option.flag().default(false),
});

/** Settings of every text encoder. */
export interface TextOptions extends OptionsOf<typeof textOptions> {}
/** The same with the defaults. */
export interface TextSettings extends ReadOf<typeof textOptions> {}

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
export function textChunks(outlet: Outlet<Uint8Array>, { chunkBytes: size }: TextSettings): TextChunks {
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
