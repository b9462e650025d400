import type { Charted } from '@call-attribution/questions/chart';

/** A value of an answer. */
export type Value = string | number | null;

/** An answer of `analyze_calls`, as charts take it: groups first, then measures. */
export interface ShownAnswer extends Charted {
  readonly summary: string;
  readonly rows: readonly Readonly<Record<string, Value>>[];
  readonly notes: readonly string[];
}

/** What a host passes: the result of the tool. */
interface Result {
  readonly isError?: boolean;
  readonly content?: readonly { readonly text?: string }[];
  readonly structuredContent?: {
    readonly summary: string;
    readonly rows?: readonly (readonly unknown[])[];
    readonly notes?: readonly string[];
    readonly partial?: Readonly<Record<string, string>>;
  };
  readonly _meta?: { readonly columns?: ShownAnswer['columns'] };
}

/** The answer that a result is, or what to say instead of it. */
export function readAnswer(result: unknown): ShownAnswer | string {
  const { isError, content, structuredContent: data, _meta } = result as Result;
  if (isError) return content?.[0]?.text ?? 'The call failed.';
  const columns = _meta?.columns;
  if (!data?.rows || !columns) return data?.summary ?? 'This answer has no table.';
  return {
    summary: data.summary,
    columns,
    rows: data.rows.map((row) =>
      Object.fromEntries(columns.map(({ name }, i) => [name, shownValue(row[i] ?? null)])),
    ),
    notes: data.notes ?? [],
    parts: data.partial ?? {},
  };
}

/** Text from visitors comes in «»; on a page it cannot be mistaken for anything else. */
const shownValue = (value: unknown): Value =>
  typeof value === 'number' || value === null ? value : String(value).replace(/^«(.*)»$/s, '$1');
