import { promisify } from 'node:util';
import { gunzipSync, gzip as gzipCallback, gzipSync } from 'node:zlib';
import { defineOperator } from '../operators/chain.ts';
import type { Operator } from '../operators/operator.ts';

const gzip = promisify(gzipCallback);

/**
 * Bytes of a member: with so many, what the compression forgets between two of them is a few per
 * mille of the file.
 */
const memberBytes = 512 * 1024;

/**
 * Compresses with gzip, in a form that can be resumed: each 512 KiB are a member of the file,
 * whatever the chunks they came in. Every gzip reader reads all members as one file.
 *
 * @example
 * fileSink('calls.csv.gz', { encode: [toCsv(), toGzip()] });
 */
export function toGzip(): Operator<Uint8Array | string, Uint8Array> {
  return defineOperator<Uint8Array | string, Uint8Array>({
    name: 'toGzip',
    gives: 'other',
    begin(state) {
      let held: Uint8Array[] = typeof state === 'string' ? [unpack(state)] : [];
      let size = held[0]?.length ?? 0;

      // A file without any bytes is not a gzip file.
      let isEmpty = state === null;
      return {
        async page(parts) {
          for (const part of parts) {
            const bytes = typeof part === 'string' ? Buffer.from(part) : part;
            held.push(bytes);
            size += bytes.length;
          }

          if (size < memberBytes) return [];
          isEmpty = false;
          const all = Buffer.concat(held);
          const whole = all.length - (all.length % memberBytes);
          held = [Buffer.from(all.subarray(whole))];
          size = all.length - whole;
          const members = Array.from({ length: whole / memberBytes }, (_, at) =>
            gzip(all.subarray(at * memberBytes, (at + 1) * memberBytes)),
          );
          return Promise.all(members);
        },
        async end() {
          if (size === 0 && !isEmpty) return [];
          return [await gzip(Buffer.concat(held))];
        },
        // What is in no member yet.
        save: () =>
          size === 0 && isEmpty
            ? null
            : gzipSync(Buffer.concat(held), { level: 1 }).toString('base64'),
      };
    },
  });
}

const unpack = (state: string): Uint8Array => gunzipSync(Buffer.from(state, 'base64'));
