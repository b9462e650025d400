import type { Clock } from '@call-attribution/core';
import { isLoopback } from '@call-attribution/core/settings';
import { basicAuth } from 'hono/basic-auth';
import type { ClientOf } from '../http/addresses.ts';
import { type AppContext, type AppRoute, hasTag, streamReply, wholeReply } from '../http/context.ts';
import { takePlace } from '../http/gate.ts';
import type { Places } from '../http/places.ts';
import { Refusal } from '../http/refusal.ts';
import type { FeedDesk, FeedState } from './desk.ts';
import type { Edition } from './edition.ts';
import type { Feed } from './feed.ts';
import { noteSent } from './once.ts';
import { statusJson, statusPage } from './status-page.ts';

/** What the routes of feeds take from the service. */
interface FeedOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly places: Places;
  /** The address by which wrong passwords are counted. */
  readonly clientOf: ClientOf;
}

/** The routes of feeds: one for each, and `/feeds` for people. */
export function feedRoutes(desk: FeedDesk, { clock, places, clientOf }: FeedOptions): AppRoute[] {
  const guarded = desk.states.map((state) => ({ state, guard: guardOf(state, clientOf) }));
  return [
    ...guarded.map(
      ({ state, guard }): AppRoute => ({
        path: state.feed.path,
        async handle(c) {
          await guard(c).catch((error: unknown) => {
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
        const allowed: FeedState[] = [];
        const wrong: FeedState[] = [];
        let refusal: unknown = null;
        // Whoever may fetch a feed may see how it is doing.
        for (const { state, guard } of guarded) {
          try {
            await guard(c);
            allowed.push(state);
          } catch (error) {
            refusal ??= error;
            if (error instanceof Refusal && error.code === 'wrong_password') wrong.push(state);
          }
        }
        if (allowed.some(({ feed }) => feed.access !== null))
          for (const { lockout } of wrong) lockout.forgive(clientOf(c));
        if (allowed.length === 0) throw refusal;
        const shown = await Promise.all(
          allowed.map(async (state) => ({ ...state, lacks: await desk.lacks(state) })),
        );
        const wantsJson = /\bapplication\/json\b/.test(c.req.header('accept') ?? '');
        return wantsJson ? statusJson(c, shown) : statusPage(c, shown, clock.now());
      },
    },
  ];
}

/** Refuses a request that does not have the user name and the password of a feed. */
function guardOf(
  { feed: { access }, lockout }: FeedState,
  clientOf: ClientOf,
): (c: AppContext) => Promise<unknown> {
  if (access === null) return async (c) => refuseStrangeHost(c);
  const check = basicAuth({
    async verifyUser(user, password, c: AppContext) {
      const trial = await lockout.check(clientOf(c), () => access.accepts(user, password));
      if (trial.result === 'wrong')
        throw unauthorized('wrong_password', 'The user name or the password is wrong.');
      if (trial.result === 'locked') {
        throw new Refusal('too_many_tries', `Too many wrong passwords. Wait ${trial.wait} s.`, {
          headers: { 'retry-after': String(trial.wait) },
        });
      }
      c.env.exchange.audit = { user: access.user };
      return true;
    },
    invalidUserMessage() {
      throw unauthorized('missing_password', 'This feed needs a user name and a password (HTTP Basic).');
    },
  });
  return (c) => check(c, async () => {});
}

const unauthorized = (code: 'wrong_password' | 'missing_password', detail: string): Refusal =>
  new Refusal(code, detail, {
    headers: { 'www-authenticate': 'Basic realm="feeds", charset="UTF-8"' },
  });

/** A web page can make its own name mean this machine; then the browser sends that name. */
function refuseStrangeHost({ req }: AppContext): void {
  const host = (req.header('host') ?? '').replace(/:\d+$/, '');
  if (isLoopback(host)) return;
  throw new Refusal('strange_host', 'A feed without a password is only for this machine: use 127.0.0.1.');
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
  if (period !== null) await noteSent(feed, period, entries);
}

/** Does the client have these bytes already? */
function isKnown(tags: string | undefined, since: string | undefined, { etag, changedAt }: Edition): boolean {
  if (tags !== undefined) return hasTag(etag, tags);
  const time = Date.parse(since ?? '');
  return !Number.isNaN(time) && Math.floor(changedAt / 1000) * 1000 <= time;
}
