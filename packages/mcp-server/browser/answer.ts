/** A value of an answer. */
export type Value = string | number | null;

/** An answer of `analyze_calls`: groups first in each row, then measures. */
export interface ShownAnswer {
  readonly summary: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
  readonly notes: readonly string[];
  /** How many columns are groups. */
  readonly groups: number;
  /** The first group is a time, in its order. */
  readonly isTime: boolean;
}

const measure =
  /^(?:calls|share|missed|missed_rate|talk_.*|callers|repeat_callers|first_time_callers|lag_median|first|last|(?:distinct|without|called_back_within)_.*|(?:count|share)\(.*|spend|cost_per_call|mean_.*|share_percent)(?:_before|_change)?$/;
const time = /^(?:month|week|day|date|hour)$/;

/** Reads what a tool returned. Null when it is not such an answer. */
export function readAnswer(result: unknown): ShownAnswer | null {
  const data = contentOf(result);
  const { columns, rows } = data;
  if (!Array.isArray(columns) || !Array.isArray(rows)) return null;
  const names = columns.map(String);
  const firstMeasure = names.findIndex((name) => measure.test(name));
  const groups = firstMeasure < 0 ? names.length : firstMeasure;
  return {
    summary: String(data.summary ?? ''),
    columns: names,
    rows: rows.map((row: unknown) => (Array.isArray(row) ? row.map(cellOf) : [])),
    notes: Array.isArray(data.notes) ? data.notes.map(String) : [],
    groups,
    isTime: groups > 0 && time.test(names[0] ?? ''),
  };
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

/** A value as people read it. */
export function shown(value: Value | undefined, column: string): string {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'number') return value;
  if (/^(?:share|missed_rate)|_change$/.test(column) && Math.abs(value) <= 1)
    return `${(value * 100).toFixed(1)} %`;
  return value.toLocaleString('en', { maximumFractionDigits: 2 });
}
