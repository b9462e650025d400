import { type Clock, isLoopback } from '@call-attribution/core';
import type { Exchange, Reply, Route } from '../http/exchange.ts';
import { Refusal } from '../http/refusal.ts';
import type { FeedDesk, FeedState } from './desk.ts';
import type { Edition } from './edition.ts';
import type { Feed } from './feed.ts';
import { noteSent } from './once.ts';
import { statusJson, statusPage } from './status-page.ts';

const challenge = { 'www-authenticate': 'Basic realm="feeds", charset="UTF-8"' };

/** The routes of feeds: one for each, and `/feeds` for people. */
export function feedRoutes(desk: FeedDesk, clock: Pick<Clock, 'now'>): Route[] {
  return [
    ...desk.states.map(
      (state): Route => ({
        path: state.feed.path,
        async handle(exchange) {
          await admit(state, exchange).catch((error: unknown) => {
            state.refusals += 1;
            throw error;
          });
          // A sheet takes many short reads, between which others read.
          const edition = await exchange.turn(() => desk.edition(state), 'loop');
          exchange.account = state.feed.account;
          exchange.audit = { ...exchange.audit, rows: edition.rows };
          state.lastFetch = clock.now();
          state.fetches += 1;
          return replyWith(state, edition, exchange);
        },
      }),
    ),
    {
      path: '/feeds',
      async handle(exchange) {
        const allowed: FeedState[] = [];
        const wrong: FeedState[] = [];
        let refusal: unknown = null;
        // Whoever may fetch a feed may see how it is doing.
        for (const state of desk.states) {
          try {
            await admit(state, exchange);
            allowed.push(state);
          } catch (error) {
            refusal ??= error;
            if (error instanceof Refusal && error.code === 'wrong_password') wrong.push(state);
          }
        }
        if (allowed.some(({ feed }) => feed.access !== null))
          for (const { lockout } of wrong) lockout.forgive(exchange.client);
        if (allowed.length === 0 && desk.states.length > 0) throw refusal;
        const wantsJson = /\bapplication\/json\b/.test(exchange.request.headers.accept ?? '');
        const shown = await Promise.all(
          allowed.map(async (state) => ({ ...state, lacks: await desk.lacks(state) })),
        );
        return wantsJson ? statusJson(shown) : statusPage(shown, clock.now());
      },
    },
  ];
}

/** Lets a request through that has the user name and the password of a feed. */
async function admit({ feed: { access }, lockout }: FeedState, exchange: Exchange): Promise<void> {
  if (access === null) return refuseStrangeHost(exchange);
  const typed = offered(exchange);
  if (typed === null) {
    throw new Refusal(401, 'missing_password', 'This feed needs a user name and a password (HTTP Basic).', {
      headers: challenge,
    });
  }
  const isRight = () => exchange.turn(() => access.accepts(typed.user, typed.password), 'pool');
  const trial = await lockout.check(exchange.client, isRight);
  if (trial.result === 'locked') {
    throw new Refusal(429, 'too_many_tries', `Too many wrong passwords. Wait ${trial.wait} s.`, {
      headers: { 'retry-after': String(trial.wait) },
    });
  }
  if (trial.result === 'wrong') {
    throw new Refusal(401, 'wrong_password', 'The user name or the password is wrong.', {
      headers: challenge,
    });
  }
  exchange.audit = { user: access.user };
}

/** A web page can make its own name mean this machine; then the browser sends that name. */
function refuseStrangeHost({ request }: Exchange): void {
  const host = (request.headers.host ?? '').replace(/:\d+$/, '');
  if (isLoopback(host)) return;
  throw new Refusal(
    403,
    'strange_host',
    'A feed without a password is only for this machine: use 127.0.0.1.',
  );
}

/** The user name and password of a request; null without them. */
function offered({ request }: Exchange): { readonly user: string; readonly password: string } | null {
  const encoded = /^Basic +([\w+/=-]{1,1024})$/i.exec(request.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

function replyWith({ feed }: FeedState, edition: Edition, { request }: Exchange): Reply {
  const headers: Record<string, string> = {
    etag: edition.etag,
    'last-modified': new Date(edition.changedAt).toUTCString(),
    'cache-control': 'private, no-cache',
  };
  if (isKnown(request.headers['if-none-match'], request.headers['if-modified-since'], edition))
    return { status: 304, headers, body: null };
  headers['content-type'] = feed.path.endsWith('.tsv')
    ? 'text/tab-separated-values; charset=utf-8'
    : 'text/csv; charset=utf-8; header=present';
  headers['content-disposition'] =
    `attachment; filename="${feed.path.slice(feed.path.lastIndexOf('/') + 1)}"`;
  const [first] = edition.parts;
  if (edition.parts.length <= 1 && edition.period === null)
    return { status: 200, headers, body: first ?? Buffer.alloc(0) };
  return { status: 200, headers, body: partsOf(feed, edition) };
}

async function* partsOf(feed: Feed, { parts, period, entries }: Edition): AsyncGenerator<Buffer> {
  yield* parts;
  // All of it was taken. If this fails, so does the response, and the tool fetches again.
  if (period !== null) await noteSent(feed, period, entries);
}

/** Does the client have these bytes already? */
function isKnown(tags: string | undefined, since: string | undefined, { etag, changedAt }: Edition): boolean {
  if (tags !== undefined) {
    const bare = (tag: string): string => tag.trim().replace(/^W\//, '');
    return tags.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(etag));
  }
  const time = Date.parse(since ?? '');
  return !Number.isNaN(time) && Math.floor(changedAt / 1000) * 1000 <= time;
}
