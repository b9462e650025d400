import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Driver, Row, Session } from '../database/driver.ts';
import { StoreError } from '../database/errors.ts';
import type { StoreSettings } from '../options.ts';
import { document, documentIn, printed } from './documents.ts';
import { findRank, otherConditions, parameters } from './pyramid.ts';
import type { NumericFilter } from './selection.ts';

/** Which page of an account to read. */
export interface PageQuery {
  /** Which calls. */
  readonly selection: NumericFilter;
  /** The version of the records. */
  readonly version: 'v2' | 'v3';
  /** Rank of the first call, counted from 0. */
  readonly offset: number;
  /** Most calls of the page. */
  readonly rows: number;
  /** When it is aborted, no further rows are read and the page rejects with its reason. Default never. */
  readonly signal?: AbortSignal | undefined;
}

/** A page, whose size is known before its records are sent. */
export interface Page {
  /** All calls of the selection. */
  readonly total: number;
  /** Calls on this page. */
  readonly count: number;
  /** The records as a JSON array: in one piece when it is short, otherwise in pieces. */
  readonly body: Buffer | PageStream;
}

/** The JSON of a long page. */
export interface PageStream extends AsyncIterable<Buffer> {
  /** About how many bytes of memory it needs at the moment. It needs less the more has been read. */
  readonly heldBytes?: number;
}

/** Where a slice starts: a time, and either a number of calls to skip or the last call of the previous slice. */
interface Start {
  readonly from: number;
  readonly skip: number;
  readonly after: string | null;
}

/**
 * Reads a page and the total from one snapshot, so that both are true at the same moment, however long the page is. Its JSON
 * is kept until it is sent. What holds the snapshot is freed before the first byte is sent.
 */
export async function readPage(
  driver: Driver,
  account: string,
  query: PageQuery,
  { sliceRows, walkBelow }: StoreSettings,
): Promise<Page> {
  const { selection, offset, rows, version, signal } = query;
  signal?.throwIfAborted();
  return driver.read(async (session) => {
    signal?.throwIfAborted();
    const { total, from, skip } = await findRank(session, account, selection, offset, walkBelow);
    const count = Math.max(0, Math.min(rows, total - offset));
    const print = (row: Row) => printed(documentIn(row), version);
    const kept = keepRecords();
    let start: Start = { from, skip, after: null };
    let since = performance.now();
    for (let left = count; left > 0; left -= sliceRows) {
      if (performance.now() - since > busyMs) {
        await nextTurn();
        since = performance.now();
      }
      signal?.throwIfAborted();
      const found = await readSlice(session, account, selection, start, Math.min(left, sliceRows));
      if (count <= sliceRows)
        return {
          total,
          count,
          body: Buffer.from(`[${found.map(print).join(',')}]`),
        };
      for (const row of found) kept.add(print(row));
      const last = found.at(-1);
      start = { from: Number(last?.at), skip: 0, after: String(last?.sid) };
    }
    const body = count === 0 ? Buffer.from('[]') : inPieces(kept.pieces());
    return { total, count, body };
  });
}

async function readSlice(
  session: Session,
  account: string,
  selection: NumericFilter,
  start: Start,
  rows: number,
): Promise<Row[]> {
  const { values, put } = parameters();
  const owner = put(account);
  const from = put(start.from);
  const after = start.after === null ? '' : ` AND (at > ${from} OR sid > ${put(start.after)})`;
  const found = await session.all(
    `SELECT ${document}, p.at AS at, p.sid AS sid
       FROM (SELECT at, sid FROM records
              WHERE account = ${owner} AND at >= ${from} AND at < ${put(selection.to)}${after}${otherConditions(selection, put)}
              ORDER BY at, sid LIMIT ${put(rows)} OFFSET ${put(start.skip)}) p
       JOIN records c ON c.account = ${owner} AND c.sid = p.sid
      ORDER BY p.at, p.sid`,
    values,
  );
  if (found.length === rows) return found;
  throw new StoreError(
    'store_failed',
    'The store has fewer calls than its counts say. calls sync --restart reads and counts them again.',
  );
}

/** A database in this process keeps it from other work for about this long at a time. */
const busyMs = 10;
/** About how many characters are sent at a time: few, since each slow reader holds a piece, but many cost less. */
const pieceChars = 65_536;

/** Records as bytes, which take less memory than strings and cost the garbage collector nothing. */
function keepRecords(): { add(record: string): void; pieces(): Buffer[] } {
  const pieces: Buffer[] = [];
  let text = '';
  return {
    add(record) {
      text += `${text === '' && pieces.length === 0 ? '[' : ','}${record}`;
      if (text.length < pieceChars) return;
      pieces.push(Buffer.from(text));
      text = '';
    },
    pieces: () => [...pieces, Buffer.from(`${text}]`)],
  };
}

/** Forgets each piece when it is read. */
function inPieces(pieces: Buffer[]): PageStream {
  const left = pieces.reverse();
  let heldBytes = left.reduce((sum, { length }) => sum + length, 0);
  return {
    get heldBytes() {
      return heldBytes;
    },
    async *[Symbol.asyncIterator]() {
      for (let piece = left.pop(); piece !== undefined; piece = left.pop()) {
        heldBytes -= piece.length;
        yield piece;
      }
    },
  };
}
