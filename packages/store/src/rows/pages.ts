import type { Driver, Session } from '../database/driver.ts';
import { StoreError } from '../database/errors.ts';
import { joinDocuments } from './documents.ts';
import { findRank, otherConditions, parameters } from './pyramid.ts';
import type { Selection } from './selection.ts';

/** How pages are read, for tests and benchmarks. */
export interface PageTuning {
  /** Records per statement. A longer page is read and sent in slices, so that its size costs no memory. Default 250. */
  sliceRows?: number;
  /** In time buckets of fewer calls the index is walked instead of splitting the bucket further. Default 2,000. */
  walkBelow?: number;
}

/** Which page of an account to read. */
export interface PageQuery {
  /** Which calls. */
  readonly selection: Selection;
  /** The version of the records. */
  readonly version: 'v2' | 'v3';
  /** Rank of the first call, counted from 0. */
  readonly offset: number;
  /** Most calls of the page. */
  readonly rows: number;
  /** When it is aborted, no further rows are read and the page rejects with its reason. Default never. */
  readonly signal?: AbortSignal;
}

/** A page, whose size is known before its records are read. */
export interface Page {
  /** All calls of the selection. */
  readonly total: number;
  /** Calls on this page. */
  readonly count: number;
  /**
   * The records as a JSON array: in one piece when it is short, otherwise in slices. Throws a `short_page` error when calls
   * are deleted while the slices are read.
   */
  readonly body: Buffer | AsyncIterable<Buffer>;
}

/** Where a slice starts: a time, and either a number of calls to skip or the last call of the previous slice. */
interface Start {
  readonly from: number;
  readonly skip: number;
  readonly after: string | null;
}

/** Reads the total and the first slice from one snapshot. Later slices continue after the last call sent. */
export async function readPage(
  driver: Driver,
  account: string,
  query: PageQuery,
  { sliceRows = 250, walkBelow = 2_000 }: PageTuning,
): Promise<Page> {
  const { selection, offset, rows, signal } = query;
  signal?.throwIfAborted();
  return driver.read(async (session) => {
    signal?.throwIfAborted();
    const { total, from, skip } = await findRank(session, account, selection, offset, walkBelow);
    const count = Math.max(0, Math.min(rows, total - offset));
    if (count === 0) return { total, count, body: Buffer.from('[]') };
    const rowsNow = Math.min(count, sliceRows);
    const first = await readSlice(
      session,
      account,
      query,
      { from, skip, after: null },
      rowsNow,
      rowsNow === count,
    );
    const body =
      rowsNow === count ? first.documents : laterSlices(driver, account, query, first, count, sliceRows);
    return { total, count, body };
  });
}

interface Slice {
  readonly documents: Buffer;
  readonly count: number;
  readonly last: Start;
}

async function readSlice(
  session: Session,
  account: string,
  { selection, version, signal }: PageQuery,
  start: Start,
  rows: number,
  isLast: boolean,
): Promise<Slice> {
  signal?.throwIfAborted();
  const { values, put } = parameters();
  const owner = put(account);
  const from = put(start.from);
  const after = start.after === null ? '' : ` AND (at > ${from} OR sid > ${put(start.after)})`;
  const found = await session.all(
    `SELECT c.common AS head, c.${tailColumn(version)} AS tail, p.at AS at, p.sid AS sid
       FROM (SELECT at, sid FROM calls
              WHERE account = ${owner} AND at >= ${from} AND at < ${put(selection.to)}${after}${otherConditions(selection, put)}
              ORDER BY at, sid LIMIT ${put(rows)} OFFSET ${put(start.skip)}) p
       JOIN calls c ON c.account = ${owner} AND c.sid = p.sid
      ORDER BY p.at, p.sid`,
    values,
  );
  const last = found.at(-1);
  if (found.length < rows || last === undefined) {
    throw new StoreError(
      'short_page',
      'Calls were deleted while the page was read. Request the page again.',
      {
        retryable: true,
      },
    );
  }
  return {
    documents: joinDocuments(found, start.after === null ? '[' : ',', isLast ? ']' : ''),
    count: found.length,
    last: { from: Number(last.at), skip: 0, after: String(last.sid) },
  };
}

/** The column with the fields of one version. It is never a string from a request. */
export function tailColumn(version: 'v2' | 'v3'): 'v2' | 'v3' {
  return version === 'v2' ? 'v2' : 'v3';
}

async function* laterSlices(
  driver: Driver,
  account: string,
  query: PageQuery,
  first: Slice,
  count: number,
  sliceRows: number,
): AsyncGenerator<Buffer> {
  yield first.documents;
  let start = first.last;
  for (let left = count - first.count; left > 0; ) {
    const rows = Math.min(left, sliceRows);
    const slice = await readSlice(driver, account, query, start, rows, rows === left);
    yield slice.documents;
    start = slice.last;
    left -= rows;
  }
}
