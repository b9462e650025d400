import { createHash } from 'node:crypto';
import { ToolError } from '../text/failures.ts';

/** A place in a list: how many rows come before it, and how long the list was. */
export interface Position {
  readonly offset: number;
  readonly total: number | null;
}

/** What a cursor belongs to: a tool and its other arguments. */
const markOf = (of: unknown): string =>
  createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 8);

/** Writes a cursor. It holds everything it needs; the server keeps nothing. */
export const writeCursor = (of: unknown, { offset, total }: Position): string =>
  `${offset}.${total ?? 'x'}.${markOf(of)}`;

/** Reads a cursor back. Throws when it does not belong to this call. */
export function readCursor(of: unknown, cursor: string | undefined): Position {
  if (cursor === undefined) return { offset: 0, total: null };
  const [, offset, total, mark] = /^(\d{1,9})\.(\d{1,12}|x)\.([0-9a-f]{8})$/.exec(cursor.trim()) ?? [];
  if (mark !== markOf(of)) throw new ToolError({ code: 'foreign_cursor' });
  return { offset: Number(offset), total: total === 'x' ? null : Number(total) };
}
