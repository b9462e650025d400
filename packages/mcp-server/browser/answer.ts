import { type Charted, measureColumn, type ShownColumn } from '@call-attribution/questions/chart';

/** A value of an answer. */
export type Value = string | number | null;

/** An answer of `analyze_calls`, as charts take it: groups first, then measures. */
export interface ShownAnswer extends Charted {
  readonly summary: string;
  readonly rows: readonly Readonly<Record<string, Value>>[];
  readonly notes: readonly string[];
}

const time = /^(?:month|week|day|date|weekday|hour)$/;

/** Reads what a tool returned. Null when it is not such an answer. */
export function readAnswer(result: unknown): ShownAnswer | null {
  const data = contentOf(result);
  const { columns, rows } = data;
  if (!Array.isArray(columns) || !Array.isArray(rows)) return null;
  const names = columns.map(String);
  const firstMeasure = names.findIndex((name) => measureColumn(name) !== undefined);
  const groups = firstMeasure < 0 ? names.length : firstMeasure;
  const cells = rows.map((row: unknown) => (Array.isArray(row) ? row.map(cellOf) : []));
  return {
    summary: String(data.summary ?? ''),
    columns: names.map((name, i) => {
      if (i < groups) return { name, kind: 'group', unit: time.test(name) ? 'time' : 'value' };
      const values = cells.map((row) => row[i] ?? null);
      return measureColumn(name) ?? { name, kind: kindOf(name), unit: unitOf(values) };
    }),
    rows: cells.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? null]))),
    notes: Array.isArray(data.notes) ? data.notes.map(String) : [],
    parts: isObject(data.partial) ? mapped(data.partial) : {},
  };
}

const mapped = (texts: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, String(text)]));

function kindOf(name: string): ShownColumn['kind'] {
  if (name.endsWith('_change')) return 'change';
  return name.endsWith('_before') ? 'before' : 'measure';
}

/** What a measure that somebody has named counts, as its values look. */
function unitOf(values: readonly Value[]): ShownColumn['unit'] {
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.every(Number.isInteger)) return 'count';
  return numbers.every((value) => Math.abs(value) <= 1) ? 'share' : 'money';
}

/** The message of a call that failed. */
export function failureIn(result: unknown): string | null {
  return isObject(result) && result.isError === true ? (textOf(result) ?? 'The call failed.') : null;
}

function contentOf(result: unknown): Record<string, unknown> {
  if (!isObject(result)) return {};
  if (isObject(result.structuredContent)) return result.structuredContent;
  try {
    const content: unknown = JSON.parse(textOf(result) ?? '{}');
    return isObject(content) ? content : {};
  } catch {
    return {};
  }
}

function textOf({ content }: Record<string, unknown>): string | undefined {
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  return isObject(first) && typeof first.text === 'string' ? first.text : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Text from visitors comes in «»; on a page it cannot be mistaken for anything else. */
function cellOf(value: unknown): Value {
  if (typeof value === 'number' || value === null) return value;
  return String(value).replace(/^«(.*)»$/s, '$1');
}
