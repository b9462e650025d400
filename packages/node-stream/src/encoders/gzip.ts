import { createGzip, type Gzip } from 'node:zlib';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { Operator } from '../operators/operator.ts';

const gzipOptions = defineOptions({
  /** From 1 (fast) to 9 (small). Default 6. */
  level: option
    .of<number>(
      'a whole number from 1 to 9',
      (value) => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 9,
      true,
    )
    .default(6),
});

/** Settings of `toGzip`. */
export interface GzipOptions extends OptionsOf<typeof gzipOptions> {}

/**
 * Compresses with gzip, in a form that can be resumed: each mark ends a member of the file and the next bytes begin another,
 * so that a file cut off after a mark is valid. Every gzip reader reads all members as one file.
 *
 * @example
 * fileSink('calls.csv.gz', { encode: [toCsv(), toGzip()] });
 */
export function toGzip(options: GzipOptions = {}): Operator<Uint8Array | string, Uint8Array> {
  const { level } = gzipOptions.read(options);
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
