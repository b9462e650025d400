import type { Call } from '@call-attribution/core';

/** Some fields of some calls, a column each: `columns.ppc_campaign[3]` is that of the fourth call, as `get` gives it. */
export interface ColumnBatch {
  /** The number of calls. */
  readonly length: number;
  /** The values of each field, null where a call does not have it. */
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
}

/** Calls per batch. */
const batchSize = 2_000;

/** The given fields of calls. */
export async function* columnsOf(
  calls: AsyncIterable<Call>,
  fields: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<ColumnBatch> {
  let columns = fields.map((): unknown[] => []);
  let length = 0;
  const batch = () => ({
    length,
    columns: Object.fromEntries(fields.map((name, index) => [name, columns[index] as unknown[]])),
  });
  for await (const call of calls) {
    signal?.throwIfAborted();
    const values = call as unknown as Readonly<Record<string, unknown>>;
    for (const [index, name] of fields.entries()) columns[index]?.push(values[name] ?? null);
    if (++length < batchSize) continue;
    yield batch();
    columns = fields.map(() => []);
    length = 0;
  }
  if (length > 0) yield batch();
}
