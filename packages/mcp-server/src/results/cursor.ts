import { createHmac } from 'node:crypto';
import type { Version } from '@call-attribution/core';
import { ToolError } from '../text/failures.ts';

/** The position a cursor points to: so many rows into a page, and how long the list was when the cursor was made. */
export interface Position {
  /** Rows per page. */
  readonly rows: number;
  /** Page number on the wire, from 0. */
  readonly start: number;
  /** Rows of that page that were already shown. */
  readonly skip: number;
  readonly total: number | null;
}

/** What a cursor belongs to. It fits no other query and no other version. */
export interface CursorScope {
  readonly tool: string;
  readonly version: Version;
  /** The other arguments. */
  readonly filter: string;
  /** The key of the server: nobody else can make cursors, for instance with more rows than a page may have. */
  readonly key: string | Uint8Array;
}

function checksum(scope: CursorScope, body: string): string {
  const text = JSON.stringify([scope.tool, scope.version, scope.filter, body]);
  return createHmac('sha256', scope.key).update(text).digest('hex').slice(0, 12);
}

/** Writes a cursor. It holds everything it needs; the server keeps nothing. */
export function writeCursor(scope: CursorScope, { rows, start, skip, total }: Position): string {
  const body = [rows, start, skip, total ?? 'x'].join('.');
  return `${body}.${checksum(scope, body)}`;
}

/** Reads a cursor back. Throws when it does not belong to this call. */
export function readCursor(scope: CursorScope, cursor: string, rows: number | undefined): Position {
  const match = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})\.(\d{1,12}|x)\.([0-9a-f]{12})$/.exec(cursor.trim());
  const body = cursor.trim().slice(0, -13);
  if (!match || match[5] !== checksum(scope, body)) throw new ToolError({ code: 'foreign_cursor' });
  const position = {
    rows: Number(match[1]),
    start: Number(match[2]),
    skip: Number(match[3]),
    total: match[4] === 'x' ? null : Number(match[4]),
  };
  if (rows !== undefined && rows !== position.rows) {
    throw new ToolError({ code: 'cursor_of_other_size', cursorRows: position.rows, rows });
  }
  return position;
}
