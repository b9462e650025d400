import { formatContentRange } from '@call-attribution/core/page';
import { type Filter, safeParse } from '@call-attribution/query-dsl';
import { type NumericFilter, type Page, type Store, selectionOf } from '@call-attribution/store';
import type { Exchange, Reply } from './exchange.ts';
import { integerOf, readParameters } from './parameters.ts';
import { Refusal } from './refusal.ts';

type Version = 'v2' | 'v3';

/** GET …/user/bid-management */
export async function listReply(
  store: Store,
  account: string,
  version: Version,
  exchange: Exchange,
): Promise<Reply> {
  const parameters = readParameters(exchange.query, ['q', 'rows', 'start']);
  const selection = readFilter(parameters, version);
  const rows = readRows(parameters, exchange);
  const most = Math.floor((Number.MAX_SAFE_INTEGER - rows) / rows);
  const requested = integerOf(parameters, 'start', { least: 0, most, otherwise: 0 }) * rows;
  // A shifted page still names the range that was requested, as when records come or go between two pages.
  const offset = Math.max(0, requested + (exchange.changes.shift ?? 0));
  const { signal } = exchange;
  const page = await store.page(account, { selection, version, offset, rows, signal });
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'content-range': formatContentRange(requested, page.count, page.total),
    },
    ...bodyOf(page, exchange),
  };
}

function bodyOf({ body }: Page, exchange: Exchange): Pick<Reply, 'body' | 'heldBytes'> {
  if (Buffer.isBuffer(body)) return { body };
  return { body: inTurns(body, exchange), heldBytes: () => body.heldBytes ?? 0 };
}

/** Each piece of a long page is made when it is the turn of its client, and not at all when the client has left. */
async function* inTurns(body: AsyncIterable<Buffer>, { turn }: Exchange): AsyncGenerator<Buffer> {
  const pieces = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await turn(() => pieces.next(), 'loop');
      if (done) return;
      yield value;
    }
  } finally {
    await pieces.return?.();
  }
}

/** GET …/user/bid-management/{sid} */
export async function singleReply(
  store: Store,
  account: string,
  version: Version,
  sid: string,
  exchange: Exchange,
): Promise<Reply> {
  readParameters(exchange.query, []);
  const document = await store.document(account, sid, version);
  if (document === null) {
    const hint = version === 'v3' && sid === 'count' ? ' The count request exists in v2 only.' : '';
    throw new Refusal(404, 'unknown_record', `This account has no call with that sid.${hint}`);
  }
  const singleAs = exchange.changes.singleAs ?? exchange.shape.singleAs;
  const body =
    singleAs === 'array' ? Buffer.concat([Buffer.from('['), document, Buffer.from(']')]) : document;
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

/** GET …/v2/user/bid-management/count */
export async function countReply(store: Store, account: string, exchange: Exchange): Promise<Reply> {
  const parameters = readParameters(exchange.query, ['q']);
  const total = await store.count(account, readFilter(parameters, 'v2'));
  const shapes = {
    object: { count: total },
    number: total,
    text: String(total),
    array: [{ count: total }],
    header: [],
  };
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'content-range': formatContentRange(0, 0, total) },
    body: JSON.stringify(shapes[exchange.changes.countAs ?? exchange.shape.countAs]),
  };
}

/** The filter of a request as numbers. */
function readFilter(parameters: ReadonlyMap<string, string>, version: Version): NumericFilter {
  return selectionFor(parsedFilter(parameters, version), version);
}

/** The parameter `q`, checked. */
export function parsedFilter(parameters: ReadonlyMap<string, string>, version: Version): Filter {
  const parsed = safeParse(parameters.get('q') ?? '', { version });
  if (!parsed.ok) {
    throw new Refusal(400, 'invalid_filter', parsed.problem.message, {
      parameter: 'q',
      filter: parsed.problem,
    });
  }
  return parsed.filter;
}

/** v2 returns calls of both channels; v3 leaves out calls from call extensions unless the filter has `inc_gce:1`. */
export function selectionFor(filter: Filter, version: Version): NumericFilter {
  return selectionOf(filter, { extensions: version === 'v2' });
}

function readRows(parameters: ReadonlyMap<string, string>, { shape, changes }: Exchange): number {
  const { maxRows, rowsOver } = shape;
  const otherwise = Math.min(shape.defaultRows, maxRows);
  const most = rowsOver === 'clamp' ? Number.MAX_SAFE_INTEGER : maxRows;
  const rows = integerOf(parameters, 'rows', { least: 1, most, otherwise });
  return Math.min(rows, maxRows, changes.clampRows ?? maxRows);
}
