import type { Call, FieldType } from '@call-attribution/core';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { checkList, checkNames } from '@call-attribution/core/options';
import { fields } from '@call-attribution/core/record';
import { day, parseNaive } from '@call-attribution/core/time';
import { ItemError } from '../errors.ts';
import { defineOperator } from '../operators/chain.ts';
import { checkFields, inCall, namesOf, numberIn, numberOf } from '../operators/fields.ts';
import type { Operator } from '../operators/operator.ts';
import type { Column } from './csv.ts';
import { type Cell, halfPair, jsonOf, rowTexts } from './row-text.ts';

type Peer = typeof import('hyparquet-writer');
/** A column, in the schema of a file. */
type SchemaElement = ConstructorParameters<Peer['ParquetWriter']>[0]['schema'][number];

/** Settings of `toParquet`. */
export interface ParquetOptions<T = Call> {
  /** Fields of calls by name, and columns of your own, in order. Default: all fields, and `odd`. */
  columns?: readonly ((keyof NoInfer<T> & string) | ParquetColumn<T>)[] | undefined;
}

/** Records in a row group, which is held in memory and is the unit in which readers skip. */
const rowGroupSize = 10_000;

/**
 * Writes Apache Parquet with typed columns: numbers as numbers, times as local timestamps without a
 * zone, all nullable. Without `columns` nothing is lost: the column `odd` has, as JSON, what the
 * others cannot give back as it was sent, and fields without a column. It needs the package
 * `hyparquet-writer`, installed next to this one. A Parquet file cannot be resumed in the middle:
 * for exports that may be interrupted, write lines, or a file for each month.
 *
 * @example
 * calls.into(fileSink('calls.parquet', { encode: toParquet({ columns: ['sid', 'talk_minutes'] })
 * }));
 */
export function toParquet<T = Call>(options: ParquetOptions<T> = {}): Operator<T, Uint8Array> {
  checkNames(options, ['columns']);
  const columns = parquetColumns<T>(options.columns);
  const titles = columns.map(({ name }) => name);
  const texts = rowTexts();

  return defineOperator<T, Uint8Array>({
    name: 'toParquet',
    gives: 'other',
    unsaved: 'a Parquet file cannot be continued in its middle',
    rows: {
      format: 'parquet',
      fields: titles,
      text: (item) =>
        texts(
          titles,
          columns.map(({ read }) => read(item)),
          item,
        ),
    },
    begin() {
      const empty = (): unknown[][] => columns.map(() => []);
      let data = empty();
      let rows = 0;
      let file: Awaited<ReturnType<typeof openFile>> | undefined;

      const write = async (out: Uint8Array[]): Promise<void> => {
        file ??= await openFile(columns);
        const columnData = columns.map(({ name }, at) => ({ name, data: data[at] ?? [] }));
        void file.parquet.write({ columnData, rowGroupSize: rows });
        out.push(file.take());
        data = empty();
        rows = 0;
      };

      return {
        async page(items) {
          const out: Uint8Array[] = [];
          for (const item of items) {
            for (const [at, { read }] of columns.entries()) data[at]?.push(read(item));
            rows += 1;
            if (rows >= rowGroupSize) await write(out);
          }

          return out;
        },
        async end() {
          const out: Uint8Array[] = [];
          if (rows > 0) await write(out);
          const isEmpty = file === undefined;
          file ??= await openFile(columns);
          void file.parquet.finish();
          return [...out, isEmpty ? withListOfStructs(file.take()) : file.take()];
        },
      };
    },
  });
}

/** In the footer: no rows, then a list without row groups, whose element type is 0. */
const noRowGroups = Buffer.from([0x16, 0x00, 0x19, 0x00]);

/**
 * A file without rows, whose list of row groups is one of structures. The writer gives an empty list
 * no type, which readers that are built on Arrow for Rust refuse. See docs/decisions/node-stream.md.
 */
function withListOfStructs(file: Uint8Array): Uint8Array {
  const at = Buffer.from(file.buffer, file.byteOffset, file.length).lastIndexOf(noRowGroups);
  if (at >= 0) file[at + noRowGroups.length - 1] = 0x0c;
  return file;
}

async function openFile(columns: readonly ReadyColumn<never>[]) {
  const load = (): Promise<Peer> => import('hyparquet-writer');
  const { ByteWriter, ParquetWriter } = await needed('hyparquet-writer', 'toParquet', load);
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ element }) => element),
    ],
    codec: 'SNAPPY',
    createdBy: 'call-attribution',
  });

  /** The bytes that were written since the last time. */
  const take = (): Uint8Array => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };

  return { parquet, take };
}

/** Loads a package that only some need. */
export async function needed<T>(name: string, what: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new ConfigurationError(
      'missing_package',
      `${what} needs the package ${name}. Install it with: npm install ${name}`,
      { cause },
    );
  }
}

/** A column of your own. Its values are strings as on the wire, or values of the type. */
export interface ParquetColumn<T = Call> extends Column<T> {
  /** How its values are stored. */
  type: ParquetType;
}

/**
 * The type of a Parquet column. `decimal` is a floating-point number. `timestamp` is a local time
 * without a zone, as in the records.
 */
export type ParquetType = 'string' | 'integer' | 'decimal' | 'date' | 'timestamp' | 'boolean';

/** How the values of a type are stored. */
interface StoredType {
  /** The type in the schema of the file. */
  readonly element: Omit<SchemaElement, 'name'>;
  /** The value in the file; undefined for one that does not fit the type. */
  store(wire: unknown): Cell;
}

const whole = /^-?\d+$/;
const notFinite: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity']);
const upToMillis = 'YYYY-MM-DD HH:MM:SS.SSS'.length;

const types: Readonly<Record<ParquetType, StoredType>> = {
  string: {
    element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    store(wire) {
      const text = String(wire);
      return text.isWellFormed() ? text : undefined;
    },
  },
  integer: {
    element: { type: 'INT64' },
    store(wire) {
      const isWhole = Number.isSafeInteger(wire) || (typeof wire === 'string' && whole.test(wire));
      const integer = isWhole ? BigInt(wire as number | string) : wire;
      return typeof integer === 'bigint' && BigInt.asIntN(64, integer) === integer
        ? integer
        : undefined;
    },
  },
  decimal: {
    element: { type: 'DOUBLE' },
    // In words they are meant; as numbers they come from a calculation that went wrong.
    store: (wire) => (notFinite.has(wire) ? Number(wire) : numberIn(wire)),
  },
  date: {
    element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    store(wire) {
      const millis = parseNaive(`${wire} 00:00:00`);
      return Number.isNaN(millis) ? undefined : millis / day;
    },
  },
  timestamp: {
    element: {
      type: 'INT64',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' },
    },
    store(wire) {
      const text = String(wire);
      const millis = parseNaive(text.slice(0, upToMillis));
      const micros = text.slice(upToMillis);
      if (Number.isNaN(millis) || !/^\d{0,3}$/.test(micros)) return undefined;
      return BigInt(millis) * 1000n + BigInt(micros.padEnd(3, '0'));
    },
  },
  boolean: {
    element: { type: 'BOOLEAN' },
    store: (wire) => (typeof wire === 'boolean' ? wire : undefined),
  },
};

const typeOf: Readonly<Record<FieldType, ParquetType>> = {
  string: 'string',
  url: 'string',
  null: 'string',
  integer: 'integer',
  'integer-string': 'integer',
  'decimal-string': 'decimal',
  datetime: 'timestamp',
  'datetime-tenths': 'timestamp',
};
const typeOfField: ReadonlyMap<string, FieldType> = new Map(
  fields.map(({ name, type }) => [name, type]),
);

/** A column with its element of the file's schema, and its value of an item as the file has it. */
interface ReadyColumn<T> {
  readonly name: string;
  readonly element: SchemaElement;
  readonly read: (item: T) => Cell;
}

function parquetColumns<T>(
  columns: readonly (string | ParquetColumn<T>)[] | undefined,
): ReadyColumn<T>[] {
  checkList('columns', columns);
  if (columns === undefined) {
    // They take what fits, and `odd` the rest.
    const all = fields.map(({ name, type }) =>
      columnOf<T>(name, typeOf[type], (item) => fitting(propertyOf(item, name), type)),
    );
    return [...all, columnOf<T>('odd', 'string', oddValues)];
  }

  checkFields('toParquet', namesOf(...columns));
  return columns.map((column) => {
    if (typeof column !== 'string') return strictColumn(column.name, column.type, column.value);
    const type = typeOf[typeOfField.get(column) ?? 'string'];
    return strictColumn(column, type, (item) => propertyOf(item, column));
  });
}

function columnOf<T>(name: string, type: ParquetType, read: (item: T) => Cell): ReadyColumn<T> {
  return { name, element: { name, repetition_type: 'OPTIONAL', ...types[type].element }, read };
}

/** A column whose values all have to fit. */
function strictColumn<T>(
  name: string,
  type: ParquetType,
  value: (item: T) => unknown,
): ReadyColumn<T> {
  if (!Object.hasOwn(types, type))
    throw new ConfigurationError(
      'invalid_option',
      `column ${name} has the unknown type ${JSON.stringify(type)}; expected ${Object.keys(types).join(', ')}`,
    );
  return columnOf(name, type, (item) => {
    const wire = value(item);
    if (wire === null || wire === undefined) return null;
    const stored = types[type].store(wire);
    if (stored !== undefined) return stored;
    if (type === 'string') throw halfPair(name, item, 'Parquet');
    if (type === 'decimal') return numberOf(wire, name, item);
    throw new ItemError('unfit_value', {
      message: `column ${name}${inCall(item)} has type ${type}, which a ${typeof wire} value does not fit`,
      hint: 'choose another type for the column',
    });
  });
}

/**
 * A value of a field as its column has it; null for none, and for one that fits no column of this
 * type.
 */
function fitting(wire: unknown, type: FieldType): Cell {
  if (wire === null || wire === undefined || typeof wire === 'object') return null;
  const stored = types[typeOf[type]].store(wire) ?? null;
  return typeof stored === 'number' && !Number.isFinite(stored) ? null : stored;
}

/** Whether the column of a field gives back this value as it was sent. */
function isExact(wire: unknown, type: FieldType): boolean {
  if (wire === null || wire === undefined) return true;
  const stored = fitting(wire, type);
  if (stored === null || typeof wire !== (type === 'integer' ? 'number' : 'string')) return false;
  if (type === 'integer-string') return String(stored) === wire;
  if (type === 'decimal-string') return (stored as number).toFixed(1) === wire;
  if (type === 'datetime') return (wire as string).length === 'YYYY-MM-DD HH:MM:SS'.length;
  return type !== 'datetime-tenths' || (wire as string).length === 'YYYY-MM-DD HH:MM:SS.S'.length;
}

/** What the columns of the fields cannot give back as it was sent, by name, as JSON. */
function oddValues(item: unknown): string | null {
  const odd = Object.entries(item as object).filter(([name, value]) => {
    const type = typeOfField.get(name);
    return type === undefined ? value !== undefined : !isExact(value, type);
  });
  return odd.length === 0 ? null : jsonOf(Object.fromEntries(odd), item, 'odd');
}
