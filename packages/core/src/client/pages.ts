import { ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import type { Call } from '../record/generated/calls.ts';
import type { CallPage, ListQuery } from './client.ts';
import type { Context } from './context.ts';
import { type PageResult, readQuery, recordReader, requestPage } from './page-request.ts';

/** How far the reading of a list has got. */
interface Walk {
  /** Calls before the next one, counted from the start of the list. */
  position: number;
  /** Page size in use: as requested, or what the server really sends. */
  size: number;
  total: number | null;
  /** Steps back since the last page with a new call. */
  backSteps: number;
  /** Has a page been returned? */
  hasBegun: boolean;
  /** Ids of the last two pages, to recognize calls that come again because the list has shifted. */
  seen: Set<string>;
  lastSeen: Set<string>;
}

/**
 * All pages of a list. Continues with the real page size when the server clamps it. Drops calls that come again because
 * the list has grown before them. Steps back when the list has shrunk, so that no call is missed. Ends only when the
 * total is reached or, without a total, at an empty page.
 */
export async function* pages(context: Context, query: ListQuery): AsyncGenerator<CallPage, void, undefined> {
  const list = readQuery(context, query);
  const reader = recordReader(context);
  const walk: Walk = {
    position: list.start * list.rows,
    size: list.rows,
    total: null,
    backSteps: 0,
    hasBegun: false,
    seen: new Set(),
    lastSeen: new Set(),
  };
  for (;;) {
    const start = Math.floor(walk.position / walk.size);
    const page = await requestPage(context, { ...list, rows: walk.size, start }, reader);
    if (page.verdict.shifted) {
      walk.size = page.count;
      continue;
    }
    if (stepsBack(context, walk, page)) continue;
    const overlap = walk.position - start * walk.size;
    const gained = page.count - overlap;
    const records = unseen(context, walk, page.content.slice(overlap));
    walk.position += Math.max(0, gained);
    if (records.length > 0) walk.backSteps = 0;
    // Without a total, nothing else would end the reading of a server that sends the same page again and again.
    if (records.length === 0 && gained > 0 && walk.total === null)
      throw new ResponseError('wrong_page', messages.pageRepeated());
    // A short page without a total may be the last one or a clamped one; the next page of its size shows which.
    if (page.count > 0 && page.count < walk.size) walk.size = page.count;
    if (records.length > 0 || !walk.hasBegun) yield { records, range: page.range, meta: page.meta };
    walk.hasBegun = true;
    if (isDone(walk, gained, page.count)) return;
  }
}

function isDone({ position, total }: Walk, gained: number, count: number): boolean {
  if (total === null) return gained <= 0;
  if (position < total && count === 0)
    throw new ResponseError('list_short', messages.listShort(position, total), { isRetryable: true });
  return position >= total;
}

const mostBackSteps = 10;

/** Notices a total that changes. True when the list has shrunk and an earlier page has to be read again. */
function stepsBack(context: Context, walk: Walk, page: PageResult<unknown>): boolean {
  const to = page.range?.total ?? null;
  const from = walk.total;
  walk.total = to ?? from;
  if (to === null || from === null || to === from) return false;
  context.report({ type: 'total_moved', from, to });
  const gone = from - to;
  if (gone <= 0 || walk.position === 0) return false;
  walk.backSteps += 1;
  if (gone > walk.seen.size + walk.lastSeen.size)
    throw new ResponseError('list_moved', messages.listShrank(gone));
  // Servers that do not agree on the total would send the client back and forth without end.
  if (walk.backSteps > mostBackSteps)
    throw new ResponseError('list_moved', messages.totalUnsteady(from, to, walk.backSteps));
  walk.position = Math.max(0, walk.position - gone);
  return true;
}

/** The calls that were not in one of the last two pages. */
function unseen(context: Context, walk: Walk, records: readonly Call[]): readonly Call[] {
  const ids = new Set<string>();
  const found = records.filter(({ sid }) => {
    // Records without an id, which mode `off` lets pass, cannot be told apart.
    if (typeof sid !== 'string') return true;
    ids.add(sid);
    return !walk.seen.has(sid) && !walk.lastSeen.has(sid);
  });
  const repeated = records.length - found.length;
  if (repeated > 0) context.report({ type: 'repeated_calls', count: repeated });
  walk.seen = walk.lastSeen;
  walk.lastSeen = ids;
  return repeated > 0 ? found : records;
}

/** All calls of a list, page after page. */
export async function* calls(context: Context, query: ListQuery): AsyncGenerator<Call, void, undefined> {
  for await (const page of pages(context, query)) yield* page.records;
}
