import { createHash } from 'node:crypto';
import { type FieldType, fields } from '@call-attribution/core/fields';
import { parseNaive } from '@call-attribution/core/time';

// One row of `records` is one call: a column for each field of the field table, and `odd` for what
// a column cannot give back.

/** What a column holds. */
export type Cell = string | number | null;

/** How the values of a field are kept in a column. */
export interface Kind {
  /** The type of the column, in both databases. */
  readonly type: 'text' | 'bigint' | 'timestamp';
  /** What the column holds for a value; null for one that it cannot hold. */
  read(value: unknown): Cell;
  /** The value that a cell stands for. */
  print(cell: string | number): unknown;
  /** What the view shows. */
  readonly shown: (column: string) => string;
}

const integerForm = /^-?\d{1,15}$/;
const tenthsForm = /^(-?)(\d{1,8})(?:\.(\d)0*)?$/;

/** `"1.3"` as 13. Null for what is finer than tenths, or no decimal. */
function tenthsOf(text: string): number | null {
  const [found, sign, whole, tenth] = tenthsForm.exec(text) ?? [];
  if (found === undefined) return null;
  const tenths = Number(whole) * 10 + Number(tenth ?? 0);
  return sign === '-' && tenths > 0 ? -tenths : tenths;
}

const printedTenths: string[] = [];

function printTenths(tenths: number): string {
  const known = printedTenths[tenths];
  if (known !== undefined) return known;
  const whole = Math.trunc(Math.abs(tenths) / 10);
  const tenth = Math.abs(tenths) % 10;
  const text = `${tenths < 0 ? '-' : ''}${whole}.${tenth}`;
  if (tenths >= 0 && tenths < 10_000) printedTenths[tenths] = text;
  return text;
}

/** A time that both databases can hold: PostgreSQL has no year 0. */
const isTime = (text: string): boolean =>
  !text.startsWith('0000') && !Number.isNaN(parseNaive(text));

function integerOf(value: unknown): number | null {
  if (typeof value === 'string') return integerForm.test(value) ? Number(value) : null;
  return Number.isSafeInteger(value) ? (value as number) : null;
}

const asIs = (cell: string | number): unknown => cell;
const itself = (column: string): string => `"${column}"`;

/** The longest text that an index of PostgreSQL takes together with the others. */
const longestInIndex = 200;

const readText = (value: unknown): Cell =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value : null;

/** Does a cell stand for exactly this value? Otherwise the value is kept in `odd`. */
export const standsFor = ({ print }: Kind, cell: Cell, value: unknown): boolean =>
  cell === value || (cell !== null && print(cell) === value);

const plain = { shown: itself, print: asIs } as const;
const kinds = {
  text: { ...plain, type: 'text', read: readText },
  indexed: {
    ...plain,
    type: 'text',
    read: (value) =>
      typeof value === 'string' && value.length <= longestInIndex ? readText(value) : null,
  },
  key: {
    ...plain,
    type: 'text',
    read: (value) => (typeof value === 'string' ? keyOf(value) : null),
  },
  integer: { ...plain, type: 'bigint', read: integerOf },
  digits: { ...plain, type: 'bigint', print: String, read: integerOf },
  tenths: {
    type: 'bigint',
    shown: (column) => `round("${column}" / 10.0, 1) AS "${column}"`,
    print: (cell) => printTenths(Number(cell)),
    read: (value) => (typeof value === 'string' ? tenthsOf(value) : null),
  },
  time: {
    ...plain,
    type: 'timestamp',
    read: (value) =>
      typeof value === 'string' && value.length === 19 && isTime(value) ? value : null,
  },
  timeTenths: {
    ...plain,
    type: 'timestamp',
    read(value) {
      if (typeof value !== 'string' || !isTime(value)) return null;
      if (value.length === 19) return `${value}.0`;
      return value.length === 21 ? value : null;
    },
  },
} as const satisfies Record<string, Kind>;

const kindOfType: Readonly<Record<FieldType, keyof typeof kinds>> = {
  string: 'text',
  url: 'text',
  null: 'text',
  integer: 'integer',
  'integer-string': 'digits',
  'decimal-string': 'tenths',
  datetime: 'time',
  'datetime-tenths': 'timeTenths',
};
const ownKind: Readonly<Record<string, keyof typeof kinds>> = { sid: 'key', ani: 'indexed' };

/** The column of a field. */
export interface FieldColumn {
  readonly name: string;
  readonly kind: Kind;
  readonly isTenthsOfSeconds: boolean;
  /** The versions that have the field. */
  readonly v2: string | null;
  readonly v3: string | null;
  /** All names that servers send it under. */
  readonly sentAs: readonly string[];
  readonly meaning: string;
}

/** The columns of the fields, in the order of the field table. */
export const fieldColumns: readonly FieldColumn[] = fields.map(
  ({ name, type, v2, v3, aliases = [], meaning }) => {
    const kind = ownKind[name] ?? kindOfType[type];
    return {
      name,
      kind: kinds[kind],
      isTenthsOfSeconds: kind === 'timeTenths',
      v2,
      v3,
      sentAs: [name, ...(v2 === null || v2 === name ? [] : [v2]), ...aliases],
      meaning,
    };
  },
);

/** The same by name. */
export const columnOf: ReadonlyMap<string, FieldColumn> = new Map(
  fieldColumns.map((column) => [column.name, column]),
);

/**
 * Fields that most questions ask for stand first in a row: SQLite reads a row up to the last column
 * that is needed.
 */
const asked = ['date_added', 'talk_minutes', 'ani', 'channel', 'ppc_campaign', 'ppc_keywords'];
const askedNext = [
  'landing_page',
  'referrer',
  'state',
  'ppc_status',
  'ppc_gclid',
  'displayed_timestamp',
];
const hot = new Set(['sid', ...asked, ...askedNext]);

/** The columns of `records` with their types, in order. */
export const recordColumns: ReadonlyMap<string, string> = new Map([
  ['account', 'key NOT NULL'],
  ['sid', 'key NOT NULL'],
  ['extension', 'smallint NOT NULL'],
  ['versions', 'text NOT NULL'],
  ['odd', 'text'],
  ...[...hot]
    .filter((name) => name !== 'sid')
    .map((name) => [name, name === 'ani' ? 'key' : (columnOf.get(name)?.kind.type ?? '')] as const),
  ...fieldColumns
    .filter(({ name }) => !hot.has(name))
    .map(({ name, kind }) => [name, kind.type] as const),
]);

const names = [...recordColumns.keys()];
const versionsAt = 3;
/** Where a row has what is odd, and the time. */
export const [oddAt, dateAt] = [4, names.indexOf('date_added')] as const;

/** The columns of the fields, and the place of each in a row. */
export const rowColumns: readonly (FieldColumn & { readonly at: number })[] = fieldColumns
  .map((column) => ({ ...column, at: names.indexOf(column.name) }))
  .sort((a, b) => a.at - b.at);

/**
 * When a call came into the store, and when what is stored of it was last written otherwise: UTC,
 * with milliseconds. Rows that an earlier release has written have neither.
 */
export const changeColumns: ReadonlyMap<string, string> = new Map([
  ['stored_at', 'timestamp'],
  ['changed_at', 'timestamp'],
]);

/** What the view `calls` shows: the account, each field under its name, and when it changed. */
export const viewColumns: string = [
  'account',
  ...fieldColumns.map(({ name, kind }) => kind.shown(name)),
  ...changeColumns.keys(),
].join(', ');

/** The versions that a call was read with. */
export type Versions = 'v3' | 'v2' | 'v2,v3';

type Fields = Readonly<Record<string, unknown>>;

/** A call as a row. */
export interface CallRow {
  /** What it is found by. */
  readonly key: string;
  readonly versions: Versions;
  /** The cells of {@link recordColumns}. `odd` has what the others cannot give back, as JSON. */
  readonly values: readonly Cell[];
  /** The number of the caller as it was sent. */
  readonly caller: unknown;
}

const onlyIn = (one: 'v2' | 'v3', other: 'v2' | 'v3') =>
  fieldColumns
    .filter((column) => column[one] !== null && column[other] === null)
    .map(({ name }) => name);
const onlyV2 = onlyIn('v2', 'v3');
const onlyV3 = onlyIn('v3', 'v2');

/** The versions that a call was read with, by the fields that it has. */
export function versionsOf(call: Fields): Versions {
  const has = (names: readonly string[]) => names.some((name) => call[name] !== undefined);
  if (!has(onlyV3)) return 'v2';
  return has(onlyV2) ? 'v2,v3' : 'v3';
}

const covers = (versions: Versions, { v2, v3 }: Pick<FieldColumn, 'v2' | 'v3'>): boolean =>
  (v2 !== null && versions !== 'v3') || (v3 !== null && versions !== 'v2');

/**
 * The row of a call that was read again. What only the other version has stays as it was: fields of
 * its own, and unknown ones. What was read with the same version alone is replaced.
 */
export function mergedRow(was: Omit<CallRow, 'caller'>, now: CallRow): CallRow {
  if (now.versions === was.versions || now.versions === 'v2,v3') return now;
  const values = [...now.values];
  for (const column of rowColumns)
    if (!covers(now.versions, column)) values[column.at] = was.values[column.at] ?? null;
  const oddOf = (row: Omit<CallRow, 'caller'>) =>
    Object.entries(JSON.parse(String(row.values[oddAt] ?? '{}')) as Fields);
  const before = oddOf(was).filter(
    ([name]) => !covers(now.versions, columnOf.get(name) ?? { v2: null, v3: null }),
  );
  const odd = [...before, ...oddOf(now)];
  values[oddAt] = odd.length === 0 ? null : JSON.stringify(Object.fromEntries(odd));
  values[versionsAt] = 'v2,v3';
  return { ...now, versions: 'v2,v3', values };
}

/**
 * The cells of a row as if its call were written now, when these columns are new: what servers sent
 * of the fields before a release knew them is in `odd`. Null when they sent nothing of them.
 */
export function learnedCells(
  { versions, values: before }: Omit<CallRow, 'caller'>,
  columns: readonly string[],
): readonly Cell[] | null {
  const odd = JSON.parse(String(before[oddAt] ?? '{}')) as Record<string, unknown>;
  const values = [...before];
  let isFound = false;
  for (const { name, at, kind, v2, v3, sentAs } of rowColumns) {
    const sent = columns.includes(name) && sentAs.find((each) => Object.hasOwn(odd, each));
    if (!sent) continue;
    isFound = true;
    const value = odd[sent];
    delete odd[sent];
    values[at] = value === null ? null : kind.read(value);
    if (!standsFor(kind, values[at] ?? null, value)) odd[name] = value;
    if (!covers(versions, { v2, v3 })) values[versionsAt] = 'v2,v3';
  }

  if (!isFound) return null;

  // In the order in which they are written, so that a sync finds nothing changed.
  const known = rowColumns.filter(({ name }) => Object.hasOwn(odd, name));
  const others = Object.entries(odd).filter(([name]) => !columnOf.has(name));
  const all = [...known.map(({ name }) => [name, odd[name]] as const), ...others];
  values[oddAt] = all.length === 0 ? null : JSON.stringify(Object.fromEntries(all));
  return values;
}

/** Some rows as they were read, a list of cells for each column. */
export interface Rows {
  readonly length: number;
  /** The cells of a column of `records`; it must be one that was asked for. */
  cells(column: string): readonly Cell[];
  /** What is odd in the rows, by their place. */
  readonly odd: ReadonlyMap<number, Fields>;
}

/**
 * Some fields of some calls, a column each: `columns.ppc_campaign[3]` is that of the fourth call,
 * as `get` gives it.
 */
export interface ColumnBatch {
  /** The number of calls. */
  readonly length: number;
  /** The values of each field, null where a call does not have it. */
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
}

/** The values of some fields. */
export function batchOf(rows: Rows, names: readonly string[]): ColumnBatch {
  const columns: Record<string, readonly unknown[]> = Object.create(null) as Record<
    string,
    readonly unknown[]
  >;
  for (const name of names) {
    const kind = columnOf.get(name)?.kind;
    let values: readonly unknown[];
    if (name === 'is_extension') values = rows.cells('extension').map((cell) => cell === 1);
    else if (kind === undefined) values = Array.from({ length: rows.length }, () => null);
    else if (kind.print === asIs) values = rows.cells(name);
    else values = rows.cells(name).map((cell) => (cell === null ? null : kind.print(cell)));
    let changed: unknown[] | null = null;
    for (const [at, odd] of rows.odd)
      if (Object.hasOwn(odd, name)) {
        changed ??= [...values];
        changed[at] = odd[name];
      }
    columns[name] = changed ?? values;
  }

  return { length: rows.length, columns };
}

/**
 * The names that a call has in each form, and the columns that they come from. The neutral form has
 * the fields that were read.
 */
const forms = {
  v2: namedIn('v2'),
  v3: namedIn('v3'),
  neutral: namedIn('name'),
};

function namedIn(form: 'v2' | 'v3' | 'name') {
  const named: { readonly name: string; readonly column: FieldColumn }[] = [];
  for (const column of fieldColumns) {
    const name = column[form];
    if (name !== null) named.push({ name, column });
  }

  return named;
}

/** The calls of rows, as a version sends them or in neutral form. */
export function recordsOf(rows: Rows, form: 'v2' | 'v3' | 'neutral'): Record<string, unknown>[] {
  const lists = forms[form].map(({ name, column }) => ({
    name,
    column,
    cells: rows.cells(column.name),
  }));
  const versions = form === 'neutral' ? rows.cells('versions') : [];
  return Array.from({ length: rows.length }, (_, at) => {
    const read = versions[at] as Versions | undefined;
    const odd = rows.odd.get(at);
    const record: Record<string, unknown> = {};
    for (const { name, column, cells } of lists) {
      if (read !== undefined && !covers(read, column)) continue;
      const cell = cells[at] ?? null;
      record[name] = cell === null ? null : column.kind.print(cell);
      if (odd !== undefined && Object.hasOwn(odd, column.name)) record[name] = odd[column.name];
    }

    for (const name in odd)
      if (!columnOf.has(name) && !Object.hasOwn(record, name))
        Object.defineProperty(record, name, {
          value: odd[name],
          enumerable: true,
          configurable: true,
          writable: true,
        });

    return record;
  });
}

/** The rows as they are written, but for the account. */
export function rowsOf(rows: Rows): Omit<CallRow, 'caller'>[] {
  const lists = names.map((name) => rows.cells(name));
  return (rows.cells('sid') as readonly string[]).map((key, at) => ({
    key,
    versions: rows.cells('versions')[at] as Versions,
    values: lists.map((cells) => cells[at] ?? null),
  }));
}

/** Longer keys are too much for an index of PostgreSQL. */
const longestKey = 500;

/**
 * What a call is found by in the database: its sid, if every database can hold it. PostgreSQL takes
 * neither NUL nor half of a surrogate pair, so these are escaped by a backslash, as is the
 * backslash itself. Different sids have different keys.
 */
export function keyOf(sid: string): string {
  if (sid.length <= longestKey && !/[\0\\\ud800-\udfff]/.test(sid)) return sid;
  const key = sid.replace(
    /[\0\\]|\p{Surrogate}/gu,
    (character) => `\\${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return key.length <= longestKey ? key : `\\#${createHash('sha256').update(key).digest('hex')}`;
}
