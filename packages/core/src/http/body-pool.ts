/** Memory for large bodies. */
export interface BodyPool {
  /** A buffer of just this length, its contents undefined. */
  take(length: number): Buffer;
  /** Takes back what `take` gave; anything else is left alone. The bytes must not be used any more. */
  give(body: Uint8Array): void;
}

/** Bodies smaller than this are not worth keeping. */
export const smallestPooled = 65_536;

const granule = 65_536;

/**
 * Keeps up to `most` bytes of memory to be used again. A page of some megabytes outlives the young generation while its
 * records are read, and getting rid of it costs the garbage collector more than filling it again.
 */
export function bodyPool(most = 64 * 2 ** 20): BodyPool {
  const own = new WeakSet<ArrayBufferLike>();
  let free: ArrayBufferLike[] = [];
  let held = 0;
  return {
    take(length) {
      const fit = free.find(({ byteLength }) => byteLength >= length && byteLength <= length * 4 + granule);
      if (fit !== undefined) {
        free = free.filter((memory) => memory !== fit);
        held -= fit.byteLength;
        return Buffer.from(fit, 0, length);
      }
      // A little more than asked for, so that the next page fits although it is not of the same size.
      const memory = Buffer.allocUnsafeSlow(Math.ceil((length * 1.1) / granule) * granule).buffer;
      own.add(memory);
      return Buffer.from(memory, 0, length);
    },
    give({ buffer }) {
      if (!own.has(buffer) || free.includes(buffer) || held + buffer.byteLength > most) return;
      free.push(buffer);
      held += buffer.byteLength;
    },
  };
}
