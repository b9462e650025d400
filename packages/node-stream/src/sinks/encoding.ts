import type { Mark } from '../checkpoint/mark.ts';
import type { Kernel } from '../operators/kernel.ts';
import type { Operator } from '../operators/operator.ts';

/** What turns the items of a sink into bytes: one encoder, or several in a row such as `[toCsv(), toGzip()]`. */
export type Encoding<T> =
  | Operator<T, Uint8Array>
  | readonly [Operator<T, Uint8Array>, ...Operator<Uint8Array, Uint8Array>[]];

/** The encoders of one file. Each method returns the bytes that are ready. */
export interface Encoder<T> {
  push(item: T): Uint8Array[] | Promise<Uint8Array[]>;
  mark(mark: Mark): Promise<Uint8Array[]>;
  end(): Promise<Uint8Array[]>;
}

/** The encoders as a list. */
export function encoders<T>(encoding: Encoding<T>): readonly Operator<T | Uint8Array, Uint8Array>[] {
  return (Array.isArray(encoding) ? encoding : [encoding]) as readonly Operator<T | Uint8Array, Uint8Array>[];
}

/** Begins a file. `continued`: it has bytes already. */
export function beginEncoding<T>(encoding: Encoding<T>, continued: boolean, signal: AbortSignal): Encoder<T> {
  const stages = encoders(encoding).map((operator) => {
    let ready: Uint8Array[] = [];
    const emit = (bytes: Uint8Array) => ready.push(bytes);
    const kernel: Kernel<T | Uint8Array> = operator.begin({ emit, fail: () => {}, signal, continued });
    const take = () => {
      const bytes = ready;
      ready = [];
      return bytes;
    };
    return { kernel, take };
  });
  const [first, ...rest] = stages as [(typeof stages)[0], ...typeof stages];
  const passOn = async (
    from: Uint8Array[],
    last: (kernel: Kernel<T | Uint8Array>) => void | Promise<void>,
  ) => {
    let bytes = from;
    for (const { kernel, take } of rest) {
      for (const chunk of bytes) await kernel.push(chunk);
      await last(kernel);
      bytes = take();
    }
    return bytes;
  };
  const nothing = () => {};
  return {
    push(item) {
      const wait = first.kernel.push(item);
      if (wait !== undefined) return wait.then(() => passOn(first.take(), nothing));
      const bytes = first.take();
      return bytes.length === 0 || rest.length === 0 ? bytes : passOn(bytes, nothing);
    },
    async mark(mark) {
      await first.kernel.mark?.(mark);
      return passOn(first.take(), (kernel) => kernel.mark?.(mark));
    },
    async end() {
      await first.kernel.end?.();
      return passOn(first.take(), (kernel) => kernel.end?.());
    },
  };
}
