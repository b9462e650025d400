import { gzipSync } from 'node:zlib';
import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { Operator } from '../operators/operator.ts';
import { atLeastOne } from '../option-kinds.ts';
import { type ParquetColumn, parquetColumns } from './parquet-columns.ts';

type Peer = typeof import('hyparquet-writer');
type Schema = ConstructorParameters<Peer['ParquetWriter']>[0]['schema'];

const parquetOptions = <T>() =>
  defineOptions({
    /** Fields by name, and columns of your own, in order. Default: all fields. */
    columns: option.list<(keyof NoInfer<T> & string) | ParquetColumn<T>>(),
    /** Records in a row group, which is held in memory and is the unit in which readers skip. Default 10,000. */
    rowGroupSize: atLeastOne().default(10_000),
    /** How pages are compressed. Default `snappy`. */
    compression: option.oneOf('snappy', 'gzip', 'none').default('snappy'),
  });

/** Settings of `toParquet`. */
export interface ParquetOptions<T = Call> extends OptionsOf<typeof parquetOptions<T>> {}

const codecs = { snappy: 'SNAPPY', gzip: 'GZIP', none: 'UNCOMPRESSED' } as const;

/**
 * Writes Apache Parquet with typed columns: numbers as numbers, times as local timestamps without a zone, all nullable. It
 * needs the package `hyparquet-writer`, installed next to this one. A Parquet file cannot be resumed in the middle: for
 * exports that may be interrupted, write one file per slice with `sliceFiles`.
 *
 * @example
 * await pipeline(createCallStream(client), toParquet({ columns: ['sid', 'talk_minutes'] }), fileSink('calls.parquet'));
 */
export function toParquet<T = Call>(options: ParquetOptions<T> = {}): Operator<T, Uint8Array> {
  const { rowGroupSize, ...settings } = parquetOptions<T>().read(options);
  const columns = parquetColumns<T>(settings.columns);
  const codec = codecs[settings.compression];
  const schema = [{ name: 'root', num_children: columns.length }, ...columns.map(({ element }) => element)];

  return new Operator<T, Uint8Array>(
    ({ emit }) => {
      let data: unknown[][] = columns.map(() => []);
      let rows = 0;
      let file: { group(): void; end(): void } | undefined;
      const opened = async () => {
        const { ByteWriter, ParquetWriter } = await peer();
        const writer = new ByteWriter();
        const compressors = { GZIP: (bytes: Uint8Array) => gzipSync(bytes) };
        const parquet = new ParquetWriter({
          writer,
          schema: schema as unknown as Schema,
          codec,
          compressors,
          createdBy: 'call-attribution',
        });
        const send = () => {
          emit(writer.getBytes().slice());
          writer.index = 0;
        };
        return {
          group() {
            const columnData = columns.map(({ name }, at) => ({ name, data: data[at] as string[] }));
            void parquet.write({ columnData, rowGroupSize: rows });
            data = columns.map(() => []);
            rows = 0;
            send();
          },
          end() {
            void parquet.finish();
            send();
          },
        };
      };
      const group = async () => {
        file ??= await opened();
        file.group();
      };
      return {
        push(item) {
          columns.forEach((column, at) => {
            data[at]?.push(column.read(item));
          });
          rows += 1;
          return rows >= rowGroupSize ? group() : undefined;
        },
        async end() {
          file ??= await opened();
          if (rows > 0) file.group();
          file.end();
        },
      };
    },
    { bytes: true, resumable: false },
  );
}

async function peer(): Promise<Peer> {
  try {
    return await import('hyparquet-writer');
  } catch (cause) {
    throw new ConfigurationError(
      'missing_package',
      'toParquet needs the package hyparquet-writer. Install it with: npm install hyparquet-writer',
      { cause },
    );
  }
}
