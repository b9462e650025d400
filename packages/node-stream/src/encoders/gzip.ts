import { createGzip, type Gzip } from 'node:zlib';
import { checkOptions, type OptionKind, type OptionShape } from '@call-attribution/core/errors';
import { Operator } from '../operators/operator.ts';

/** Settings of `toGzip`. */
export interface GzipOptions {
  /** From 1 (fast) to 9 (small). Default 6. */
  level?: number | undefined;
}

const shape = {
  level: {
    expected: 'a whole number from 1 to 9',
    accepts: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 9,
    isShown: true,
  },
} satisfies OptionShape & Record<keyof GzipOptions, OptionKind>;

/**
 * Compresses with gzip, in a form that can be resumed: each mark ends a member of the file and the next bytes begin another,
 * so that a file cut off after a mark is valid. Every gzip reader reads all members as one file.
 *
 * @example
 * fileSink('calls.csv.gz', { encode: [toCsv(), toGzip()] });
 */
export function toGzip(options: GzipOptions = {}): Operator<Uint8Array | string, Uint8Array> {
  checkOptions(options, shape);
  const level = options.level ?? 6;
  return new Operator<Uint8Array | string, Uint8Array>(
    ({ emit, signal, continued }) => {
      let member: Gzip | null = null;
      let latest: Gzip | null = null;
      let written = continued === true;
      // One listener for all members: an export may have thousands of marks.
      signal.addEventListener('abort', () => latest?.destroy(), { once: true });
      const begin = (): Gzip => {
        written = true;
        const gzip = createGzip({ level });
        gzip.on('data', emit);
        latest = gzip;
        return gzip;
      };
      const close = () =>
        new Promise<void>((resolve, reject) => {
          if (member === null) return resolve();
          member.once('end', resolve).once('error', reject).end();
          member = null;
        });
      return {
        push(bytes) {
          member ??= begin();
          const gzip = member;
          return new Promise((resolve, reject) => {
            gzip.write(bytes, (error) => (error ? reject(error) : resolve()));
          });
        },
        mark: close,
        end() {
          // A file without any bytes is not a gzip file.
          if (!written) member = begin();
          return close();
        },
      };
    },
    { bytes: true },
  );
}
