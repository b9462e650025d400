import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type MessagePort, Worker } from 'node:worker_threads';
import { ConfigurationError } from '@call-attribution/core/errors';
import { type Cell, cellTexts } from '../encoders/row-text.ts';
import type { RowTaker } from './read-rows.ts';

/** When the reading of a Parquet file ends early. */
export interface ParquetPatience {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without a page after which the file counts as damaged. */
  readonly patience: number;
}

/** What the worker is started with. */
interface Task {
  /** The URL of hyparquet. */
  readonly library: string;
  readonly path: string;
  /** Counts what was read: pages in the worker, rows that arrive here. */
  readonly steps: Int32Array<SharedArrayBuffer>;
}

/** What the worker sends: the columns, then rows, each time it is asked for more. */
type Message =
  | { readonly names: readonly string[] }
  | { readonly rows: readonly (readonly unknown[])[] }
  | { readonly isEnd: true };

/**
 * Reads the rows of a Parquet file, group by group, in a thread of its own: damage leads the decoder anywhere, also into a loop
 * without an end or to the end of the memory. This process goes on meanwhile, and ends the thread when no page comes any more.
 */
export async function readParquet(
  path: string,
  { onFields, onRow }: RowTaker,
  { signal, patience }: ParquetPatience,
): Promise<void> {
  signal?.throwIfAborted();
  const task: Task = { library: libraryUrl(), path, steps: new Int32Array(new SharedArrayBuffer(4)) };
  const worker = new Worker(program, { eval: true, workerData: task, execArgv: [], env: {} });
  let texts = cellTexts([]);
  let names: readonly string[] = [];
  const take = (message: Message): boolean => {
    if ('isEnd' in message) return true;
    if ('names' in message) {
      names = message.names;
      texts = cellTexts(names);
      onFields(names, false);
      return false;
    }
    for (const row of message.rows) {
      const record = Object.fromEntries(names.map((name, at) => [name, row[at]]));
      onRow({ record, text: texts(row.map(cellOf)) });
    }
    Atomics.add(task.steps, 0, 1);
    worker.postMessage('more');
    return false;
  };
  let stop: () => void = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const aborted = () => reject(signal?.reason);
      const watch = setInterval(watcher(task.steps, reject), patience);
      stop = () => {
        clearInterval(watch);
        signal?.removeEventListener('abort', aborted);
      };
      signal?.addEventListener('abort', aborted);
      worker.on('error', reject).on('exit', () => reject(new Error('the reading ended early')));
      worker.on('message', (message: Message) => {
        try {
          if (take(message)) resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
  } finally {
    stop();
    await worker.terminate();
  }
}

/** Fails when nothing was read since it was called before. */
function watcher(steps: Int32Array<SharedArrayBuffer>, fail: (error: Error) => void): () => void {
  let before = -1;
  return () => {
    const now = Atomics.load(steps, 0);
    if (now === before) fail(new Error('nothing more can be read'));
    before = now;
  };
}

/** Runs in the worker, which gets it as text: it knows nothing but its arguments. */
async function sendRows(
  { asyncBufferFromFile, parquetMetadataAsync, parquetRead, parquetSchema }: typeof import('hyparquet'),
  { gunzipSync }: typeof import('node:zlib'),
  { path, steps }: Task,
  port: MessagePort,
): Promise<void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  port.postMessage({ names: parquetSchema(metadata).children.map(({ element }) => element.name) });
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    let rows: readonly unknown[][] = [];
    await parquetRead({
      file,
      metadata,
      rowStart,
      rowEnd,
      rowFormat: 'array',
      compressors: { GZIP: (bytes) => new Uint8Array(gunzipSync(bytes)) },
      // The values as they are stored: times in microseconds, dates in days.
      parsers: {
        timestampFromMilliseconds: (millis: bigint) => millis,
        timestampFromMicroseconds: (micros: bigint) => micros,
        timestampFromNanoseconds: (nanos: bigint) => nanos,
        dateFromDays: (days: number) => days,
        stringFromBytes: (bytes: Uint8Array) => bytes && decoder.decode(bytes),
      },
      onPage: () => Atomics.add(steps, 0, 1),
      onComplete: (all) => {
        rows = all;
      },
    });
    for (let at = 0; at < rows.length; at += 1000) {
      port.postMessage({ rows: rows.slice(at, at + 1000) });
      await new Promise((more) => port.once('message', more));
    }
    rowStart = rowEnd;
  }
  port.postMessage({ isEnd: true });
}

const program = `
const { parentPort, workerData } = require('node:worker_threads');
import(workerData.library).then((library) => (${sendRows})(library, require('node:zlib'), workerData, parentPort));
`;

function cellOf(value: unknown): Cell {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value;
    default:
      return null;
  }
}

function libraryUrl(): string {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve('hyparquet')).href;
  } catch (cause) {
    throw new ConfigurationError(
      'missing_package',
      'Reading a Parquet file back needs the package hyparquet. Install it with: npm install hyparquet',
      { cause },
    );
  }
}
