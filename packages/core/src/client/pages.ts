import { ResponseError } from '../errors/calls-error.ts';
import type { Call } from '../record/generated/calls.ts';
import type { CallPage, ListQuery } from './client.ts';
import type { Context } from './context.ts';
import { askPage, type PageAnswer, readQuery, recordReader } from './list-calls.ts';

/** Where a walk through a list stands. */
interface Walk {
  /** Calls before the one wanted next, counted from the start of the list. */
  position: number;
  /** Page size in use: as asked, or what the server really gives. */
  size: number;
  total: number | null;
  /** Steps back since the last page that brought something new. */
  backSteps: number;
  /** Has a page been given out? */
  begun: boolean;
  /** Ids of the last two pages, to know a call again when the list has shifted. */
  seen: Set<string>;
  lastSeen: Set<string>;
}

/**
 * All pages of a list. Goes on with the real page size when the server clamps it; drops calls that come again because
 * the list has grown before them; steps back when it has shrunk, so that no call slips through the gap; and ends only
 * when the total is reached or, where none is told, at an empty page.
 */
export async function* pages(context: Context, query: ListQuery): AsyncGenerator<CallPage, void, undefined> {
  const asked = readQuery(context, query);
  const reader = recordReader(context);
  const walk: Walk = {
    position: asked.start * asked.rows,
    size: asked.rows,
    total: null,
    backSteps: 0,
    begun: false,
    seen: new Set(),
    lastSeen: new Set(),
  };
  for (;;) {
    const start = Math.floor(walk.position / walk.size);
    const page = await askPage(context, { ...asked, rows: walk.size, start }, reader);
    if (page.verdict.shifted) {
      walk.size = page.count;
      continue;
    }
    if (stepsBack(context, walk, page)) continue;
    const overlap = walk.position - start * walk.size;
    const gained = page.count - overlap;
    const fresh = unseen(context, walk, page.content.slice(overlap));
    walk.position += Math.max(0, gained);
    if (fresh.length > 0) walk.backSteps = 0;
    if (fresh.length === 0 && gained > 0 && walk.total === null) throw repeating();
    // A short page without a total may be the last one or a clamped one; asking on by its size finds out.
    if (page.count > 0 && page.count < walk.size) walk.size = page.count;
    if (fresh.length > 0 || !walk.begun) yield { records: fresh, range: page.range, meta: page.meta };
    walk.begun = true;
    if (isDone(walk, gained, page.count)) return;
  }
}

/** Without a total nothing else would end the walk through a server that sends the same page for ever. */
const repeating = (): ResponseError =>
  new ResponseError(
    'wrong_page',
    'The server sends the same calls again as the next page: it seems to ignore start.',
    {
      hint: 'Ask with a date filter and rows large enough for one page.',
    },
  );

function isDone(walk: Walk, gained: number, count: number): boolean {
  const { position, total } = walk;
  if (total === null) return gained <= 0;
  if (position < total && count === 0)
    throw new ResponseError(
      'list_short',
      `The list ends after ${position} calls, though ${total} were told.`,
      {
        isRetryable: true,
        hint: 'Read the list again; if it stays so, the server cannot page that far.',
      },
    );
  return position >= total;
}

const mostBackSteps = 10;

/** Notices a total that moves. True when the page was read too far on and the walk has gone back. */
function stepsBack(context: Context, walk: Walk, page: PageAnswer<unknown>): boolean {
  const to = page.range?.total ?? null;
  const from = walk.total;
  walk.total = to ?? from;
  if (to === null || from === null || to === from) return false;
  context.reporter.tell({ type: 'total_moved', from, to });
  const gone = from - to;
  if (gone <= 0 || walk.position === 0) return false;
  walk.backSteps += 1;
  // Servers that do not agree on the total would send the walk back and forth for ever.
  if (gone > walk.seen.size + walk.lastSeen.size || walk.backSteps > mostBackSteps)
    throw new ResponseError(
      'list_moved',
      `${gone} calls left the list while it was read: calls may have been missed.`,
      {
        hint: 'Read the list again, best with a date filter whose end lies in the past.',
      },
    );
  walk.position = Math.max(0, walk.position - gone);
  return true;
}

/** The calls that have not been given out with one of the last two pages. */
function unseen(context: Context, walk: Walk, records: readonly Call[]): readonly Call[] {
  const ids = new Set<string>();
  const fresh = records.filter(({ sid }) => {
    // Records without an id, which mode `off` lets through, cannot be told apart.
    if (typeof sid !== 'string') return true;
    ids.add(sid);
    return !walk.seen.has(sid) && !walk.lastSeen.has(sid);
  });
  const repeated = records.length - fresh.length;
  if (repeated > 0) context.reporter.tell({ type: 'repeated_calls', count: repeated });
  walk.seen = walk.lastSeen;
  walk.lastSeen = ids;
  return repeated > 0 ? fresh : records;
}

/** All calls of a list, page after page. */
export async function* calls(context: Context, query: ListQuery): AsyncGenerator<Call, void, undefined> {
  for await (const page of pages(context, query)) yield* page.records;
}
