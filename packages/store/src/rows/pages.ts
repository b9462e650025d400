import type { Driver, Session } from '../database/driver.ts';
import { StoreError } from '../database/errors.ts';
import { joinDocuments } from './documents.ts';
import { besidesTime, findRank, parameters } from './pyramid.ts';
import type { Selection } from './selection.ts';

/** How pages are read. */
export interface PageTuning {
  /** Documents read at once; a longer page leaves in slices, so that its size costs no memory. Default 250. */
  sliceRows?: number;
  /** Time buckets of fewer calls are walked through the index instead of split further. Default 2,000. */
  walkBelow?: number;
}

/** Which calls of an account, and how they are wanted. */
export interface PageQuery {
  readonly selection: Selection;
  readonly version: 'v2' | 'v3';
  /** Place of the first call, from 0. */
  readonly offset: number;
  readonly rows: number;
}

/** A page whose size is known before its documents are read. */
export interface Page {
  readonly total: number;
  /** Calls on this page. */
  readonly count: number;
  /**
   * The JSON array: in one piece when it is short, else in slices. The slices end early with a `short_page` error when
   * calls vanish while they are read.
   */
  readonly body: Buffer | AsyncIterable<Buffer>;
}

/** Where a slice begins: a place in time, and either calls to pass over or the last call of the slice before. */
interface Mark {
  readonly from: number;
  readonly skip: number;
  readonly after: string | null;
}

/** Total and first slice come from one snapshot; later slices go on behind the last call sent. */
export async function readPage(
  driver: Driver,
  account: string,
  query: PageQuery,
  { sliceRows = 250, walkBelow = 2_000 }: PageTuning,
): Promise<Page> {
  const { selection, offset, rows } = query;
  return driver.read(async (session) => {
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
      rowsNow === count ? first.documents : onward(driver, account, query, first, count, sliceRows);
    return { total, count, body };
  });
}

interface Slice {
  readonly documents: Buffer;
  readonly count: number;
  readonly last: Mark;
}

async function readSlice(
  session: Session,
  account: string,
  { selection, version }: PageQuery,
  mark: Mark,
  rows: number,
  isLast: boolean,
): Promise<Slice> {
  const { values, put } = parameters();
  const owner = put(account);
  const start = put(mark.from);
  const behind = mark.after === null ? '' : ` AND (at > ${start} OR sid > ${put(mark.after)})`;
  const found = await session.all(
    `SELECT c.common AS head, c.${tailColumn(version)} AS tail, p.at AS at, p.sid AS sid
       FROM (SELECT at, sid FROM calls
              WHERE account = ${owner} AND at >= ${start} AND at < ${put(selection.to)}${behind}${besidesTime(selection, put)}
              ORDER BY at, sid LIMIT ${put(rows)} OFFSET ${put(mark.skip)}) p
       JOIN calls c ON c.account = ${owner} AND c.sid = p.sid
      ORDER BY p.at, p.sid`,
    values,
  );
  const last = found.at(-1);
  if (found.length < rows || last === undefined) {
    throw new StoreError(
      'short_page',
      'Calls were deleted while the page was read. Ask for the page again.',
      {
        retryable: true,
      },
    );
  }
  return {
    documents: joinDocuments(found, mark.after === null ? '[' : ',', isLast ? ']' : ''),
    count: found.length,
    last: { from: Number(last.at), skip: 0, after: String(last.sid) },
  };
}

/** The column of a version's own fields; never the text that a caller gave. */
export function tailColumn(version: 'v2' | 'v3'): 'v2' | 'v3' {
  return version === 'v2' ? 'v2' : 'v3';
}

async function* onward(
  driver: Driver,
  account: string,
  query: PageQuery,
  first: Slice,
  count: number,
  sliceRows: number,
): AsyncGenerator<Buffer> {
  yield first.documents;
  let mark = first.last;
  for (let left = count - first.count; left > 0; ) {
    const rows = Math.min(left, sliceRows);
    const slice = await readSlice(driver, account, query, mark, rows, rows === left);
    yield slice.documents;
    mark = slice.last;
    left -= rows;
  }
}
