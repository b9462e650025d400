import { createHash } from 'node:crypto';
import type { Version } from '@call-attribution/core';
import { ToolError } from '../arguments/tool-error.ts';

/** The place a cursor stands for: so many rows into one page, in a list of that many when it was made. */
export interface Place {
  readonly rows: number;
  /** Page number on the wire, from 0. */
  readonly start: number;
  /** Rows of that page already shown. */
  readonly skip: number;
  readonly total: number | null;
}

/** What a cursor belongs to. It fits no other query and no other version. */
export interface CursorScope {
  readonly tool: string;
  readonly version: Version;
  readonly filter: string;
}

function checksum(scope: CursorScope, body: string): string {
  const text = JSON.stringify([scope.tool, scope.version, scope.filter, body]);
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** Writes a cursor. All it needs is in it; the server keeps nothing. */
export function writeCursor(scope: CursorScope, { rows, start, skip, total }: Place): string {
  const body = [rows, start, skip, total ?? 'x'].join('.');
  return `${body}.${checksum(scope, body)}`;
}

/** Reads a cursor back, or says why it does not belong to this call. */
export function readCursor(scope: CursorScope, cursor: string, rows: number | undefined): Place {
  const match = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})\.(\d{1,12}|x)\.([0-9a-f]{8})$/.exec(cursor.trim());
  const body = cursor.trim().slice(0, -9);
  if (!match || match[5] !== checksum(scope, body)) {
    throw cursorError('It was made for another filter, tool or version of the API, or it was changed.');
  }
  const place = {
    rows: Number(match[1]),
    start: Number(match[2]),
    skip: Number(match[3]),
    total: match[4] === 'x' ? null : Number(match[4]),
  };
  if (rows !== undefined && rows !== place.rows) {
    throw cursorError(`It was made with rows=${place.rows}, and this call says rows=${rows}.`);
  }
  return place;
}

function cursorError(why: string): ToolError {
  return new ToolError({
    what: 'The cursor does not belong to this call',
    why,
    next: 'Repeat the arguments of the call that gave the cursor and add only the cursor, or start again without one.',
    retry: 'Only with changed arguments.',
  });
}
