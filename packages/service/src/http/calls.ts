import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@call-attribution/core';
import { formatContentRange, formatScopes, scopeHeader } from '@call-attribution/core/page';
import { type Filter, safeParse } from '@call-attribution/query-dsl';
import { type Selection, type Store, selectionOf } from '@call-attribution/store';
import type { Shape } from '../defaults.ts';
import { type AppContext, hasTag, jsonReply, queryOf } from './context.ts';
import { integerOf, readParameters } from './parameters.ts';
import { Refusal } from './refusal.ts';

type Version = 'v2' | 'v3';

/**
 * A page waits for a turn of the event loop for so many of its rows, for so many milliseconds at
 * most.
 */
const rowsPerTurn = 4;
const mostWaitMs = 500;

/** What the API needs to respond. */
export interface CallsOptions {
  readonly store: Store;
  readonly shape: Shape;
  readonly clock: Pick<Clock, 'now'>;
  /**
   * Goes into tags: under another service, the same position of an account may be something else.
   */
  readonly salt: Buffer;
}

/** GET …/user/bid-management */
export async function listReply(
  c: AppContext,
  account: string,
  version: Version,
  options: CallsOptions,
): Promise<Response> {
  const { store, shape, clock } = options;
  const parameters = readParameters(queryOf(c), ['q', 'rows', 'start']);
  const selection = readFilter(parameters, version);
  const { changes } = c.env.exchange;
  const rows = Math.min(readRows(parameters, shape), changes.clampRows ?? shape.maxRows);
  const most = Math.floor((Number.MAX_SAFE_INTEGER - rows) / rows);
  const requested = integerOf(parameters, 'start', { least: 0, most, otherwise: 0 }) * rows;

  // A shifted page still names the range that was requested, as when records come or go between two
  // pages.
  const offset = Math.max(0, requested + (changes.shift ?? 0));
  const { signal } = c.req.raw;
  const tag = await tagOf(options, account, [
    version,
    parameters.get('q') ?? '',
    rows,
    offset,
    requested,
  ]);
  c.header('etag', tag);
  await sayScope(c, account, store);
  if (hasTag(tag, c.req.header('if-none-match'))) return c.body(null, 304);

  // Node.js accepts one connection a turn: behind large pages alone, those of other accounts would
  // wait for seconds.
  const until = clock.now() + mostWaitMs;
  for (let turns = rows / rowsPerTurn; turns >= 1 && clock.now() < until; turns -= 1)
    await nextTurn();
  const { body, count, total } = await store.page(account, {
    selection,
    version,
    offset,
    rows,
    signal,
  });
  return jsonReply(c, body, { 'content-range': formatContentRange(requested, count, total) });
}

/**
 * The tag of a page. It follows from the question and from how often the calls of the account have
 * changed, so nothing is read for it. A change while the page is read gives the page an older tag,
 * never a newer one.
 */
async function tagOf(
  { store, salt }: CallsOptions,
  account: string,
  question: readonly (string | number)[],
): Promise<string> {
  const asked = JSON.stringify([account, await store.revision(account), ...question]);
  const hash = createHash('sha256').update(salt).update(asked).digest('base64url');
  // Weak, because the same page may be sent packed or plain.
  return `W/"${hash.slice(0, 27)}"`;
}

/** Says which calls the account has, where a sync has filled it with a filter. */
async function sayScope(c: AppContext, account: string, store: Store): Promise<void> {
  const verdict = await store.verdict(account);
  const scopes = formatScopes(verdict?.only ?? []);
  if (scopes !== null) c.header(scopeHeader, scopes);
}

/** GET …/user/bid-management/{sid} */
export async function singleReply(
  c: AppContext,
  account: string,
  version: Version,
  { store, shape }: CallsOptions,
): Promise<Response> {
  readParameters(queryOf(c), []);
  const sid = sidOf(c);
  const document = await store.document(account, sid, version);
  if (document === null) {
    const hint = version === 'v3' && sid === 'count' ? ' The count request exists in v2 only.' : '';
    throw new Refusal('unknown_record', `This account has no call with that sid.${hint}`);
  }

  const singleAs = c.env.exchange.changes.singleAs ?? shape.singleAs;
  return jsonReply(
    c,
    singleAs === 'array' ? Buffer.concat([Buffer.from('['), document, Buffer.from(']')]) : document,
  );
}

/** The last part of the path. Hono would leave one alone that is wrongly encoded. */
function sidOf({ req }: AppContext): string {
  const { pathname } = new URL(req.url);
  try {
    return decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1));
  } catch {
    throw new Refusal(
      'malformed_encoding',
      'The sid in the path is not valid percent-encoded UTF-8.',
      {
        parameter: 'sid',
      },
    );
  }
}

/** GET …/v2/user/bid-management/count */
export async function countReply(
  c: AppContext,
  account: string,
  { store, shape }: CallsOptions,
): Promise<Response> {
  const parameters = readParameters(queryOf(c), ['q']);
  await sayScope(c, account, store);
  const total = await store.count(account, readFilter(parameters, 'v2'));
  const shapes = {
    object: { count: total },
    number: total,
    text: String(total),
    array: [{ count: total }],
    header: [],
  };
  return jsonReply(c, JSON.stringify(shapes[c.env.exchange.changes.countAs ?? shape.countAs]), {
    'content-range': formatContentRange(0, 0, total),
  });
}

/** The filter of a request as numbers. */
function readFilter(parameters: ReadonlyMap<string, string>, version: Version): Selection {
  return selectionFor(parsedFilter(parameters, version), version);
}

/** The parameter `q`, checked. */
export function parsedFilter(parameters: ReadonlyMap<string, string>, version: Version): Filter {
  const parsed = safeParse(parameters.get('q') ?? '', { version });
  if (!parsed.ok) {
    throw new Refusal('invalid_filter', parsed.problem.message, {
      parameter: 'q',
      filter: parsed.problem,
    });
  }

  return parsed.filter;
}

/**
 * v2 returns calls of both channels; v3 leaves out calls from call extensions unless the filter has
 * `inc_gce:1`.
 */
export function selectionFor(filter: Filter, version: Version): Selection {
  return selectionOf(filter, { extensions: version === 'v2' });
}

function readRows(parameters: ReadonlyMap<string, string>, shape: Shape): number {
  const { maxRows, rowsOver, defaultRows } = shape;
  const otherwise = Math.min(defaultRows, maxRows);
  const most = rowsOver === 'clamp' ? Number.MAX_SAFE_INTEGER : maxRows;
  return Math.min(integerOf(parameters, 'rows', { least: 1, most, otherwise }), maxRows);
}
