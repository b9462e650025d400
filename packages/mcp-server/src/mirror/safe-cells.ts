import { type FieldSpec, fields } from '@call-attribution/core';
import type { Answer as WarehouseAnswer } from '@call-attribution/questions';
import { type Cell, keyTextLimit, type RecordView } from '../fields/view.ts';
import type { FieldFacts } from '../source/source.ts';
import type { Copy } from './mirror.ts';

// Values that come out of the database without their record, made safe to show.

type Row = Readonly<Record<string, Cell>>;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const personal = fields.filter((spec) => spec.personal && spec.v3 !== null).map(({ name }) => name);
const specOf = (name: string): FieldSpec | undefined =>
  // A click id comes out of an address that a visitor may have written.
  fields.find((spec) => spec.name === (name === 'click_id' ? 'ppc_gclid' : name));

/** Shows stored values as the view of a record does. */
export class Cells {
  readonly #warehouse: Copy['warehouse'];
  readonly #view: RecordView;
  /** The calls of the account. */
  readonly #from: string;

  constructor({ warehouse, account }: Copy, { view }: { readonly view: RecordView }) {
    this.#warehouse = warehouse;
    this.#view = view;
    this.#from = `FROM calls WHERE account = ${literal(account)}`;
  }

  /** The rows of an answer with every group masked, cleaned and fenced. */
  async rows(rows: WarehouseAnswer['rows'], groups: readonly string[]): Promise<readonly Row[]> {
    const shown = new Map<string, ReadonlyMap<unknown, Cell>>();
    for (const name of groups) {
      const values = [...new Set(rows.map((row) => row[name]))].filter((value) => value !== null);
      const spec = specOf(name);
      shown.set(
        name,
        spec
          ? await this.#safe(name, spec, values)
          : new Map(values.map((value) => [value, plainCell(value)])),
      );
    }
    const cellOf = (name: string, value: unknown): Cell =>
      groups.includes(name) ? (shown.get(name)?.get(value) ?? null) : plainCell(value);
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cellOf(name, value)])),
    );
  }

  /** How often each field is empty, and its most frequent values. */
  async facts(specs: readonly FieldSpec[], calls: number): Promise<readonly FieldFacts[]> {
    const counts = specs.map((spec, i) => `count(*) FILTER (WHERE ${present(spec)})::INTEGER AS f${i}`);
    const tops = specs.flatMap((spec, i) =>
      spec.personal
        ? []
        : `(SELECT ${i} AS i, ${quoted(spec.name)}::VARCHAR AS v, count(*)::INTEGER AS n ${this.#from} AND ${present(spec)} GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT 3)`,
    );
    const [[filled = {}], frequent] = await Promise.all([
      this.#all(`SELECT ${['1 AS one', ...counts].join(', ')} ${this.#from}`),
      tops.length === 0 ? [] : this.#all(tops.join(' UNION ALL ')),
    ]);
    return Promise.all(
      specs.map(async (field, i) => {
        const top = frequent.filter((row) => Number(row.i) === i).sort((a, b) => Number(b.n) - Number(a.n));
        const nulls = calls === 0 ? 0 : 1 - Number(filled[`f${i}`] ?? 0) / calls;
        // Values that occur once say nothing, and may say who called.
        if (Number(top[0]?.n ?? 0) < 2) return { field, nulls, top: [] };
        const values = top.map(({ v }) => v);
        const shown = await this.#safe(field.name, field, values);
        return { field, nulls, top: top.map(({ v, n }) => [shown.get(v) ?? null, Number(n)] as const) };
      }),
    );
  }

  /** All different values of a field. */
  async valuesOf(field: string): Promise<readonly string[]> {
    const rows = await this.#all(`SELECT DISTINCT ${quoted(field)} AS v ${this.#from}`);
    return rows.map(({ v }) => v).filter((value) => typeof value === 'string');
  }

  async #all(sql: string): Promise<Record<string, unknown>[]> {
    const rows: Record<string, unknown>[] = [];
    for await (const row of await this.#warehouse.query(sql)) rows.push(row);
    return rows;
  }

  #cellOf(spec: FieldSpec, value: unknown, record: object = {}): Cell {
    return this.#view({ ...record, [spec.name]: value }, [spec], keyTextLimit)[0] ?? null;
  }

  async #safe(
    column: string,
    spec: FieldSpec,
    values: readonly unknown[],
  ): Promise<ReadonlyMap<unknown, Cell>> {
    // Ids too: a click id passes through the browser, and may hold whatever its visitor typed.
    const needsRecord = !spec.personal && isText(spec);
    const strings = values
      .filter((value) => typeof value === 'string')
      .filter((text) => !text.includes('\0'));
    const records = needsRecord ? await this.#recordsWith(column, strings) : null;
    return new Map(
      values.map((value) => {
        const plain = this.#cellOf(spec, value);
        const masked = (records?.get(String(value)) ?? []).map((record) => this.#cellOf(spec, value, record));
        return [value, masked.find((cell) => cell !== plain) ?? plain];
      }),
    );
  }

  /**
   * Records that have these values, one or two for each: a visitor may have written their own name or number into a field,
   * and only their record tells that it is theirs.
   */
  async #recordsWith(column: string, values: readonly string[]): Promise<ReadonlyMap<string, object[]>> {
    if (values.length === 0) return new Map();
    const record = `{${personal.map((name) => `${literal(name)}: ${quoted(name)}`).join(', ')}}`;
    const rows = await this.#all(
      `SELECT ${quoted(column)} AS v, first(${record}) AS a, last(${record}) AS b ${this.#from} AND ${quoted(column)} IN (${values.map(literal).join(', ')}) GROUP BY 1`,
    );
    return new Map(
      rows.map(({ v, a, b }) => [
        String(v),
        [a, b].filter((each) => typeof each === 'object' && each !== null),
      ]),
    );
  }
}

const isText = ({ type }: FieldSpec): boolean => type === 'string' || type === 'url';

const present = (spec: FieldSpec): string =>
  `${quoted(spec.name)} IS NOT NULL${isText(spec) ? ` AND ${quoted(spec.name)} <> ''` : ''}`;

const plainCell = (value: unknown): Cell =>
  typeof value === 'boolean' ? String(value) : ((value ?? null) as Cell);
