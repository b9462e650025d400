import type { Call } from '@call-attribution/core';
import type { StreamPage } from '@call-attribution/node-stream';
import { toCsv, toGzip, toParquet } from '@call-attribution/node-stream/encoders';
import type { Kernel } from '@call-attribution/node-stream/operators';
import type { PinnedJob } from '../job/job.ts';

/** Turns pages into the bytes of a file. */
export interface PartEncoding {
  put(page: StreamPage): Promise<void>;
  end(): Promise<void>;
}

/** Smaller chunks are kept until they make a block of this size, then written together. */
export const blockBytes = 256 * 1024;

type Emit = (bytes: Uint8Array) => void;
type Field = keyof Call & string;

/** Records in a group of Parquet rows, which is held in memory: a parcel of the usual size has ten. */
const rowGroupSize = 5_000;

/** Begins a file. Formats of JSON lines take the lines as the server sent them, without parsing. */
export function beginPartEncoding(
  { format, columns }: Pick<PinnedJob, 'format' | 'columns'>,
  signal: AbortSignal,
  emit: Emit,
): PartEncoding {
  const fail = () => {};
  const gzip = (): Kernel<Uint8Array> => toGzip().begin({ emit, fail, signal });
  const fields = columns === null ? {} : { columns: columns as readonly Field[] };
  switch (format) {
    case 'ndjson':
      // What is not written with its page must not lie in the memory of the page.
      return lines({ push: (bytes) => emit(bytes.length < blockBytes ? Buffer.from(bytes) : bytes) });
    case 'ndjson.gz':
      return lines(gzip());
    case 'csv.gz': {
      const packed = gzip();
      const ready: Uint8Array[] = [];
      const rows = toCsv(fields).begin({ emit: (bytes) => ready.push(bytes), fail, signal });
      const passOn = async () => {
        for (const bytes of ready.splice(0)) await packed.push(bytes);
      };
      return records({
        push: (call) => {
          const wait = rows.push(call);
          return wait === undefined && ready.length === 0 ? undefined : Promise.resolve(wait).then(passOn);
        },
        async end() {
          await rows.end?.();
          await passOn();
          await packed.end?.();
        },
      });
    }
    default:
      return records(toParquet({ ...fields, rowGroupSize }).begin({ emit, fail, signal }));
  }
}

const lines = (kernel: Kernel<Uint8Array>): PartEncoding => ({
  async put(page) {
    const bytes = page.ndjson();
    if (bytes.length > 0) await kernel.push(bytes);
  },
  async end() {
    await kernel.end?.();
  },
});

const records = (kernel: Kernel<Call>): PartEncoding => ({
  async put(page) {
    for (const call of page.records) {
      const wait = kernel.push(call);
      if (wait !== undefined) await wait;
    }
  },
  async end() {
    await kernel.end?.();
  },
});
