import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOperator, type Operator } from '../operators/operator.ts';
import { type ParquetColumn, parquetColumns, type ReadyColumn } from './parquet-columns.ts';
import { cellTexts } from './row-text.ts';

type Peer = typeof import('hyparquet-writer');

/** Settings of `toParquet`. */
export interface ParquetOptions<T = Call> {
  /** Fields of calls by name, and columns of your own, in order. Default: all fields. */
  columns?: readonly ((keyof NoInfer<T> & string) | ParquetColumn<T>)[] | undefined;
  /** Records in a row group, which is held in memory and is the unit in which readers skip. Default 10,000. */
  rowGroupSize?: number;
}

/**
 * Writes Apache Parquet with typed columns: numbers as numbers, times as local timestamps without a zone, all nullable. It
 * needs the package `hyparquet-writer`, installed next to this one. A Parquet file cannot be resumed in the middle: for
 * exports that may be interrupted, write lines, or a file for each month.
 *
 * @example
 * await pipeline(createCallStream(client), toParquet({ columns: ['sid', 'talk_minutes'] }), fileSink('calls.parquet'));
 */
export function toParquet<T = Call>({
  columns: chosen,
  rowGroupSize = 10_000,
}: ParquetOptions<T> = {}): Operator<T, Uint8Array> {
  const columns = parquetColumns<T>(chosen);
  const titles = columns.map(({ name }) => name);
  const texts = cellTexts(titles);

  return defineOperator<T, Uint8Array>({
    name: 'toParquet',
    unsaved: 'a Parquet file cannot be continued in its middle',
    rows: {
      format: 'parquet',
      fields: titles,
      text: (item) => texts(columns.map((column) => column.cell(item))),
    },
    begin() {
      let group = newGroup(columns);
      let rows = 0;
      let file: ParquetFile | undefined;
      const write = async (out: Uint8Array[]) => {
        file ??= await openFile(columns);
        out.push(file.write(group, rows));
        group = newGroup(columns);
        rows = 0;
      };
      return {
        async page(items) {
          const out: Uint8Array[] = [];
          for (const item of items) {
            for (const { column, data } of group) data.push(column.read(item));
            rows += 1;
            if (rows >= rowGroupSize) await write(out);
          }
          return out;
        },
        async end() {
          const out: Uint8Array[] = [];
          if (rows > 0) await write(out);
          file ??= await openFile(columns);
          out.push(file.end());
          return out;
        },
      };
    },
  });
}

/** The values of a row group, column by column. */
type Group<T> = readonly { readonly column: ReadyColumn<T>; readonly data: unknown[] }[];

const newGroup = <T>(columns: readonly ReadyColumn<T>[]): Group<T> =>
  columns.map((column) => ({ column, data: [] }));

interface ParquetFile {
  write(group: Group<never>, rows: number): Uint8Array;
  end(): Uint8Array;
}

async function openFile(columns: readonly ReadyColumn<never>[]): Promise<ParquetFile> {
  const { ByteWriter, ParquetWriter } = await peer();
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.map(({ element }) => element)],
    codec: 'SNAPPY',
    createdBy: 'call-attribution',
  });
  const taken = () => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  return {
    write(group, rows) {
      const columnData = group.map(({ column: { name }, data }) => ({ name, data }));
      void parquet.write({ columnData, rowGroupSize: rows });
      return taken();
    },
    end() {
      void parquet.finish();
      return taken();
    },
  };
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
