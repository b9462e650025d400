import { type Call, fromCall } from '@call-attribution/core/record';
import type { Row } from '../database/driver.ts';
import type { Versions } from './record.ts';

/** What a call is printed from, in a statement on `records`. */
export const document = 'coalesce(exact, CAST(record AS text)) AS document, versions, v3_length';

/** What {@link document} selects. */
export interface DocumentRow {
  /** The JSON of the call. */
  readonly text: string;
  /** The versions that it was read with, the last one last. */
  readonly versions: Versions;
  /** How much of the JSON is the record of v3, but for its last brace; null when there is none, or nothing else. */
  readonly v3Length: number | null;
}

/** The document of a row. */
export const documentIn = (row: Row): DocumentRow => ({
  text: String(row.document),
  versions: row.versions as Versions,
  v3Length: row.v3_length === null ? null : Number(row.v3_length),
});

/** The record of a version as JSON. */
export function printed({ text, versions, v3Length }: DocumentRow, version: 'v2' | 'v3'): string {
  if (version === 'v3' && versions === 'v3') return text;
  if (version === 'v3' && v3Length !== null) return `${text.slice(0, v3Length)}}`;
  return JSON.stringify(fromCall(JSON.parse(text) as Call, version));
}
