import type { Call } from '@call-attribution/core';
import type { StreamPage } from '@call-attribution/node-stream';
import { toCsv, toGzip, toParquet } from '@call-attribution/node-stream/encoders';
import type { Output, Step } from '@call-attribution/node-stream/operators';
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
  const context = { signal, hasTime: false };
  const fields = columns === null ? {} : { columns: columns as readonly Field[] };
  const lines = (page: StreamPage): Uint8Array[] => [page.ndjson()].filter(({ length }) => length > 0);
  switch (format) {
    case 'ndjson':
      return {
        async put(page) {
          // What is not written with its page must not lie in the memory of the page.
          for (const bytes of lines(page)) emit(bytes.length < blockBytes ? Buffer.from(bytes) : bytes);
        },
        async end() {},
      };
    case 'ndjson.gz':
      return encodedBy(lines, [toGzip().begin(null, context)], emit);
    case 'csv.gz':
      return encodedBy(recordsOf, [toCsv(fields).begin(null, context), toGzip().begin(null, context)], emit);
    default:
      return encodedBy(recordsOf, [toParquet({ ...fields, rowGroupSize }).begin(null, context)], emit);
  }
}

const recordsOf = (page: StreamPage): readonly Call[] => page.records;

function encodedBy<I>(
  itemsOf: (page: StreamPage) => readonly I[],
  [first, second]: readonly [Step<I, Uint8Array>, Step<Uint8Array, Uint8Array>?],
  emit: Emit,
): PartEncoding {
  const passOn = async (bytes: readonly Uint8Array[]): Promise<void> => {
    for (const each of second === undefined ? bytes : await outOf(second.take(bytes))) emit(each);
  };
  return {
    async put(page) {
      const items = itemsOf(page);
      if (items.length > 0) await passOn(await outOf(first.take(items)));
    },
    async end() {
      await passOn((await first.end?.()) ?? []);
      for (const each of (await second?.end?.()) ?? []) emit(each);
    },
  };
}

/** What an encoder gives: it takes its items at once. */
async function outOf<O>(output: Output<O>): Promise<readonly O[]> {
  const given = await output;
  return 'out' in given ? given.out : given;
}
