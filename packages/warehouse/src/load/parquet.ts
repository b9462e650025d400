import type { Call, FieldType } from '@call-attribution/core';
import { WarehouseError } from '../errors.ts';
import type { Session } from '../file/session.ts';
import { fieldColumns, quoted } from '../tables/columns.ts';
import { stagedColumns } from '../tables/row-writer.ts';
import type { Source } from './merge.ts';

/** Calls stored in one transaction when they come from files. */
const mostAtOnce = 1_000_000;

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const reading = (files: readonly string[]): string =>
  `read_parquet([${files.map(literal).join(', ')}], hive_partitioning = false)`;

/** Files that can be stored together: of the same columns, and not too many calls. */
export interface FileGroup {
  readonly files: readonly string[];
  readonly records: number;
  /** The columns are those that this release exports, so the rows can be stored as they are. */
  readonly isOwn: boolean;
}

/** The files in groups, in their order. */
export async function groupFiles(session: Session, files: readonly string[]): Promise<FileGroup[]> {
  const groups: { files: string[]; records: number; isOwn: boolean }[] = [];
  for (const file of files) {
    const { records, columns } = await describe(session, file);
    const names = new Set(columns.map((row) => String(row.column_name)));
    if (!names.has('sid')) {
      throw new WarehouseError('invalid_dataset', `${file} has no column sid: it does not hold calls.`);
    }
    const isOwn =
      stagedColumns.every(({ name }) => names.has(name)) && names.size === stagedColumns.length + 2;
    const last = groups.at(-1);
    if (last && last.isOwn === isOwn && last.records + Number(records) <= mostAtOnce) {
      last.files.push(file);
      last.records += Number(records);
    } else groups.push({ files: [file], records: Number(records), isOwn });
  }
  return groups;
}

async function describe(session: Session, file: string) {
  try {
    const { records } = await session.one(
      `SELECT sum(num_rows)::VARCHAR AS records FROM parquet_file_metadata(${literal(file)})`,
    );
    return { records, columns: await session.all(`DESCRIBE SELECT * FROM ${reading([file])}`) };
  } catch (cause) {
    throw new WarehouseError('invalid_dataset', `${file} cannot be read as a Parquet file.`, { cause });
  }
}

/** The rows of files that this package wrote, as they are stored. */
export function ownSource({ files, records }: FileGroup): Source {
  const cells = stagedColumns
    .map(({ name, type }) => `${quoted(name)}::${type} AS ${quoted(name)}`)
    .join(', ');
  const sql = `(SELECT ${cells} FROM ${reading(files)})`;
  return { sql, keys: sql, records };
}

/** Does a call occur twice in files? */
export async function hasDuplicates(session: Session, { files }: FileGroup): Promise<boolean> {
  const { twice } = await session.one(
    `SELECT count(*) > count(DISTINCT sid) AS twice FROM ${reading(files)}`,
  );
  return twice === true;
}

/** The calls in files that something else wrote: columns by name, numbers and times in the form in which the API sends them. */
export async function* foreignCalls(
  session: Session,
  { files }: FileGroup,
): AsyncGenerator<Call, void, undefined> {
  for (const file of files) {
    const columns = await session.all(`DESCRIBE SELECT * FROM ${reading([file])}`);
    const names = columns.map((row) => String(row.column_name)).filter((name) => !ownNames.has(name));
    const cells = names.map((name) => `${quoted(name)}::VARCHAR`).join(', ');
    const chunks = session.column(`SELECT json_array(${cells})::VARCHAR FROM ${reading([file])}`);
    for await (const chunk of chunks) for (const json of chunk) yield callOf(names, JSON.parse(json));
  }
}

/** Columns of an export that are not fields of a call. */
const ownNames = new Set([
  'account',
  'other',
  'wire',
  'absent',
  'caller_key',
  'is_extension',
  'is_first',
  'loaded_at',
]);
const types = new Map<string, FieldType>(fieldColumns.map(({ name, wire }) => [name, wire]));

function callOf(names: readonly string[], cells: readonly (string | null)[]): Call {
  return Object.fromEntries(
    names.map((name, i) => [name, sentValue(types.get(name), cells[i] ?? null)]),
  ) as unknown as Call;
}

/** A value as the API would have sent it. */
function sentValue(type: FieldType | undefined, text: string | null): string | number | null {
  if (text === null) return null;
  switch (type) {
    case 'datetime':
      return text.slice(0, 19);
    case 'datetime-tenths':
      return text.length === 19 ? `${text}.0` : text.slice(0, 21);
    case 'decimal-string':
      return text.includes('.') ? text : `${text}.0`;
    case 'integer':
      return Number(text);
    default:
      return text;
  }
}
