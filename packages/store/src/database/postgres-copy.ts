import type pg from 'pg';
import type { Insert, Value } from './driver.ts';

/** The part of the driver's connection that COPY uses. */
interface Connection {
  query(sql: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

type Done = (error: Error | null, result?: unknown) => void;

/** Inserts rows with COPY, which costs the server about half of an INSERT. None of the rows may exist. */
export async function copyRows(
  client: pg.PoolClient,
  insert: Insert,
  rows: readonly (readonly Value[])[],
  limitMs: number,
): Promise<void> {
  const data = Buffer.from(rows.map((row) => `${row.map(cell).join('\t')}\n`).join(''));
  await new Promise<void>((resolve, reject) => {
    // What the driver calls when the server responds: the same interface as that of pg-copy-streams.
    const copy = {
      query_timeout: limitMs,
      callback: ((error) => (error ? reject(error) : resolve())) as Done,
      submit: (connection: Connection) =>
        connection.query(`COPY ${insert.into} (${insert.columns.join(', ')}) FROM STDIN`),
      handleCopyInResponse(connection: Connection) {
        connection.sendCopyFromChunk(data);
        connection.endCopyFrom();
      },
      handleError: (error: Error) => copy.callback(error),
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => copy.callback(null),
      handleRowDescription: () => undefined,
      handleDataRow: () => undefined,
      handlePortalSuspended: () => undefined,
      handleEmptyQuery: () => undefined,
    };
    client.query(copy as unknown as pg.Submittable);
  });
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A value in the text format of COPY. */
function cell(value: Value): string {
  if (value === null) return '\\N';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') throw new TypeError('COPY takes strings, numbers and nulls.');
  return /[\\\t\n\r]/.test(value)
    ? value.replace(/[\\\t\n\r]/g, (character) => escapes[character] as string)
    : value;
}
