import type { Call, FieldType } from '@call-attribution/core';
import { isMemoryLimit, WarehouseError } from '../errors.ts';
import type { Session } from '../file/session.ts';
import { fieldColumns, literal, quoted } from '../tables/columns.ts';
import { insteadOfOther, stagedColumns } from '../tables/row-writer.ts';
import type { Source } from './merge.ts';

/** Calls stored in one transaction when they come from files. */
const mostAtOnce = 1_000_000;

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
  return withFile(file, async () => {
    const { records } = await session.one(
      `SELECT sum(num_rows)::VARCHAR AS records FROM parquet_file_metadata(${literal(file)})`,
    );
    return { records, columns: await session.all(`DESCRIBE SELECT * FROM ${reading([file])}`) };
  });
}

/** Whatever fails while only this file is read is the fault of the file, unless memory or the disk is full. */
async function withFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileFailure(file, error);
  }
}

function fileFailure(file: string, error: unknown): WarehouseError {
  if (error instanceof WarehouseError && error.code === 'disk_full') return error;
  const { cause } = error instanceof Error ? error : {};
  let what = 'cannot be read as a Parquet file';
  if (isMemoryLimit(error))
    what = 'needs more memory than the warehouse may use: raise `memory`, or write it in smaller row groups';
  else if (cause instanceof Error && /^Conversion Error/.test(cause.message))
    what = 'has values that do not fit their columns';
  return new WarehouseError('invalid_dataset', `${file} ${what}.`, { cause: error });
}

const ownCells = stagedColumns
  .map(({ name, type }) => `${quoted(name)}::${type} AS ${quoted(name)}`)
  .join(', ');

/** The rows of files that this package wrote, as they are stored. */
export function ownSource({ files }: Pick<FileGroup, 'files'>): Source {
  const sql = `(SELECT ${ownCells} FROM ${reading(files)})`;
  // What a file says about its number of rows may be wrong.
  return { sql, keys: sql, records: null };
}

// Not by DuckDB's own check of JSON: it refuses halves of a pair of UTF-16, which calls may have.
const isObject = (json: string): string => `coalesce(${json} = '{}' OR ${json} LIKE '{"%}', true)`;
const wire = `(CASE WHEN starts_with(wire::VARCHAR, ${literal(insteadOfOther)})
  THEN substr(wire::VARCHAR, ${insteadOfOther.length + 1}) ELSE wire::VARCHAR END)`;

/**
 * Does a call occur twice in files that look like ours? Throws when rows are among them that could not be read again once they are
 * stored.
 */
export async function hasDuplicates(session: Session, { files }: FileGroup): Promise<boolean> {
  const look = (some: readonly string[]) =>
    session.one(
      `SELECT count(*) > count(DISTINCT sid) AS twice,
         count(*) FILTER (WHERE coalesce(sid::VARCHAR, '') = '' OR NOT ${isObject('other::VARCHAR')} OR NOT ${isObject(wire)}) > 0 AS odd
         FROM ${reading(some)}`,
    );
  const all = await look(files).catch(() => null);
  if (all !== null && all.odd !== true) return all.twice === true;
  // Which of them is it?
  for (const file of files) {
    if ((await withFile(file, () => look([file]))).odd !== true) continue;
    throw new WarehouseError(
      'invalid_dataset',
      `${file} has the columns of an export, but values that no export writes in sid, other or wire. Nothing of it was loaded.`,
    );
  }
  throw fileFailure(files[0] ?? '', null);
}

/** Reads every value of files that look like ours. Throws for one that cannot be read, or has values that do not fit their columns. */
export async function checkReadable(session: Session, { files }: FileGroup): Promise<void> {
  for (const file of files)
    await withFile(file, () =>
      session.one(`SELECT bit_xor(hash(t)) AS all FROM ${ownSource({ files: [file] }).sql} t`),
    );
}

/** The calls in files that something else wrote: columns by name, numbers and times in the form in which the API sends them. */
export async function* foreignCalls(
  session: Session,
  { files }: FileGroup,
): AsyncGenerator<Call, void, undefined> {
  for (const file of files) {
    const { columns } = await describe(session, file);
    const names = columns.map((row) => String(row.column_name)).filter((name) => !ownNames.has(name));
    const cells = names.map((name) => `${quoted(name)}::VARCHAR`).join(', ');
    const chunks = session.column(`SELECT json_array(${cells})::VARCHAR FROM ${reading([file])}`);
    for (;;) {
      const { value, done } = await withFile(file, () => chunks.next());
      if (done === true) break;
      for (const json of value) yield callOf(names, JSON.parse(json));
    }
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
