/** Memory for large bodies. */
export interface BodyPool {
  /** A buffer of exactly this length, with undefined contents. */
  take(length: number): Buffer;
  /** Takes a buffer of `take` back; ignores any other. The bytes must not be used after that. */
  give(body: Uint8Array): void;
}

/** Bodies smaller than this are not worth keeping. */
export const smallestPooled = 65_536;

const granule = 65_536;

/**
 * Keeps up to `most` bytes of memory for later bodies. A page of some megabytes outlives the young generation while its
 * records are read, and collecting it costs more than filling it again.
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
      // A little more than needed, so that the next page fits although its size differs.
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
