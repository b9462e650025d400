import type { Clock } from '@call-attribution/core';
import { type AppContext, type AppRoute, hasTag, streamReply, wholeReply } from '../http/context.ts';
import { takePlace } from '../http/gate.ts';
import type { Places } from '../http/places.ts';
import type { Try } from '../http/tries.ts';
import type { FeedDesk } from './desk.ts';
import type { Edition } from './edition.ts';
import type { Feed } from './feed.ts';
import { noteSent } from './once.ts';
import { createPasswordCheck } from './password-check.ts';
import { statusJson, statusPage } from './status-page.ts';

/** What the routes of feeds take from the service. */
interface FeedOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly places: Places;
  readonly tryPassword: Try;
}

/** The routes of feeds: one for each, and `/feeds` for people. */
export function feedRoutes(desk: FeedDesk, { clock, places, tryPassword }: FeedOptions): AppRoute[] {
  const check = createPasswordCheck(tryPassword);
  return [
    ...desk.states.map(
      (state): AppRoute => ({
        path: state.feed.path,
        async handle(c) {
          await check(c, [state]).catch((error: unknown) => {
            state.refusals += 1;
            throw error;
          });
          await takePlace(c, places, state.feed.account);
          const edition = await desk.edition(state);
          const { exchange } = c.env;
          exchange.audit = { ...exchange.audit, rows: edition.rows };
          state.lastFetch = clock.now();
          state.fetches += 1;
          return replyWith(c, state.feed, edition);
        },
      }),
    ),
    {
      path: '/feeds',
      async handle(c) {
        // Whoever may fetch a feed may see how it is doing.
        const allowed = await check(c, desk.states);
        const shown = await Promise.all(
          allowed.map(async (state) => ({ ...state, lacks: await desk.lacks(state) })),
        );
        const wantsJson = /\bapplication\/json\b/.test(c.req.header('accept') ?? '');
        return wantsJson ? statusJson(c, shown) : statusPage(c, shown, clock.now());
      },
    },
  ];
}

function replyWith(c: AppContext, feed: Feed, edition: Edition): Response {
  c.header('etag', edition.etag);
  c.header('last-modified', new Date(edition.changedAt).toUTCString());
  c.header('cache-control', 'private, no-cache');
  if (isKnown(c.req.header('if-none-match'), c.req.header('if-modified-since'), edition))
    return c.body(null, 304);
  const headers = {
    'content-type': feed.path.endsWith('.tsv')
      ? 'text/tab-separated-values; charset=utf-8'
      : 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="${feed.path.slice(feed.path.lastIndexOf('/') + 1)}"`,
  };
  const [first] = edition.parts;
  if (edition.parts.length <= 1 && edition.period === null)
    return wholeReply(c, first ?? Buffer.alloc(0), headers);
  // What packs a sheet would take all of it before the client has taken anything.
  if (edition.period !== null) c.header('cache-control', 'private, no-cache, no-transform');
  return streamReply(c, partsOf(feed, edition, c.req.raw.signal), headers);
}

async function* partsOf(
  feed: Feed,
  { parts, period, entries }: Edition,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  yield* parts;
  signal.throwIfAborted();
  // All of it was taken. If this fails, so does the response, and the tool fetches again.
  if (feed.once && period !== null) await noteSent(feed.once, period, entries);
}

/** Does the client have these bytes already? */
function isKnown(tags: string | undefined, since: string | undefined, { etag, changedAt }: Edition): boolean {
  if (tags !== undefined) return hasTag(etag, tags);
  const time = Date.parse(since ?? '');
  return !Number.isNaN(time) && Math.floor(changedAt / 1000) * 1000 <= time;
}
