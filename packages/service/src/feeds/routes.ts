import type { LeftOutReason } from '@call-attribution/conversions';
import type { Clock } from '@call-attribution/core';
import { isLoopback } from '@call-attribution/core/settings';
import { everything, periodOfText } from '@call-attribution/core/time';
import { describe } from '@call-attribution/node-stream/copies';
import { metricsText } from '@call-attribution/node-stream/status';
import type { Store } from '@call-attribution/store';
import { html } from 'hono/html';
import { auth } from 'hono/utils/basic-auth';
import type { Admission } from '../http/admission.ts';
import {
  type AppContext,
  type AppRoute,
  hasTag,
  jsonReply,
  streamReply,
  wholeReply,
} from '../http/context.ts';
import { type Try, unauthorized } from '../http/passwords.ts';
import { Refusal } from '../http/refusal.ts';
import type { Feed } from './feed.ts';
import { makeReport, makeSheet, noteSent, periodOf, type Sheet, sinceOf } from './sheet.ts';

/** For how long a sheet that was made is given to further requests, in milliseconds. */
const freshMs = 60_000;
/** Bytes that are sent together. */
const pieceBytes = 65_536;

/** A feed, its last sheet, and what became of its fetches. */
interface FeedState {
  readonly feed: Feed;
  /** When a tool last fetched it with success, in milliseconds since 1970. */
  lastFetch: number | null;
  /** How many fetches had success, a 304 included. */
  fetches: number;
  /** How many were refused: no password, a wrong one, or too many at once. */
  refusals: number;
  /** The sheet that is made. */
  making: Promise<Sheet> | null;
  /** The last sheet, of which only the facts are kept. */
  latest: Pick<Sheet, 'madeAt' | 'rows' | 'leftOut'> | null;
  /** The last sheet while it is fresh. */
  fresh: Sheet | null;
  /** The sheet of each request whose response is under way. */
  readonly sending: Map<AppContext, Sheet>;
  /** When it could last not be made. */
  failedAt: number | null;
}

/** What the routes of feeds take from the service. */
interface FeedOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly takePlace: Admission['takePlace'];
  readonly tryPassword: Try;
}

/** The routes of feeds, one for each and `/feeds` for people, and their metrics. */
export interface FeedRoutes {
  readonly routes: readonly AppRoute[];
  metrics(): string;
}

/** Makes the routes of feeds. */
export function feedRoutes(
  feeds: readonly Feed[],
  { store, clock, takePlace, tryPassword }: FeedOptions,
): FeedRoutes {
  const states = feeds.map(
    (feed): FeedState => ({
      feed,
      lastFetch: null,
      fetches: 0,
      refusals: 0,
      making: null,
      latest: null,
      fresh: null,
      sending: new Map(),
      failedAt: null,
    }),
  );

  const make = async (state: FeedState): Promise<Sheet> => {
    const { feed, sending } = state;
    try {
      const sheet =
        'report' in feed
          ? await makeReport(feed, store, clock.now())
          : await makeSheet(feed, store, clock.now(), [...sending.values()]);
      const { madeAt, rows, leftOut } = sheet;
      Object.assign(state, { latest: { madeAt, rows, leftOut }, fresh: sheet, failedAt: null });
      setTimeout(() => {
        if (state.fresh === sheet) state.fresh = null;
      }, freshMs).unref();
      return sheet;
    } catch (error) {
      state.failedAt = clock.now();
      throw error;
    } finally {
      state.making = null;
    }
  };

  /**
   * The sheet to send; made now unless the last one is fresh. Requests at the same time share one.
   */
  const sheetFor = async (c: AppContext, state: FeedState): Promise<Sheet> => {
    const isCurrent = ({ period }: Sheet) => period === periodOf(state.feed, clock.now());
    const { fresh } = state;
    let sheet = fresh && clock.now() - fresh.madeAt < freshMs ? fresh : null;

    // A period may end while its sheet is made.
    while (sheet === null || !isCurrent(sheet)) {
      state.making ??= make(state);
      sheet = await state.making;
    }

    state.sending.set(c, sheet);
    c.env.exchange.ends.push(() => state.sending.delete(c));
    return sheet;
  };

  const routes = states.map(
    (state): AppRoute => ({
      path: state.feed.path,
      who: 'feed',
      takesPlace: true,
      shows: 'calls',
      async handle(c) {
        await open(c, [state], tryPassword).catch((error: unknown) => {
          state.refusals += 1;
          throw error;
        });
        await takePlace(c, state.feed.account);
        const sheet = await sheetFor(c, state);
        c.env.exchange.audit = { ...c.env.exchange.audit, rows: sheet.rows };
        state.lastFetch = clock.now();
        state.fetches += 1;
        return replyWith(c, state.feed, sheet);
      },
    }),
  );
  const status: AppRoute = {
    path: '/feeds',
    who: 'feed',
    takesPlace: false,
    shows: 'counts',
    async handle(c) {
      // Whoever may fetch a feed may see how it is doing.
      const allowed = await open(c, states, tryPassword);
      const facts = await Promise.all(allowed.map((state) => factsOf(state, store, clock.now())));
      return /\bapplication\/json\b/.test(c.req.header('accept') ?? '')
        ? jsonReply(c, `${JSON.stringify({ feeds: facts })}\n`)
        : statusPage(c, facts);
    },
  };
  return {
    routes: [...routes, ...(states.length === 0 ? [] : [status])],
    metrics: () => metricsOf(states),
  };
}

/** The feeds among these that a request may see. It is refused when there are none. */
async function open(
  c: AppContext,
  states: readonly FeedState[],
  tryPassword: Try,
): Promise<readonly FeedState[]> {
  const guarded = states.filter(({ feed }) => feed.access !== null);
  const unguarded = states.filter(({ feed }) => feed.access === null);

  // A web page can make its own name mean this machine; then the browser sends that name.
  const isLocal = isLoopback((c.req.header('host') ?? '').replace(/:\d+$/, ''));
  const given = auth(c.req.raw);
  if (given === undefined || guarded.length === 0) {
    if (unguarded.length === 0)
      throw unauthorized(
        'missing_password',
        'This feed needs a user name and a password (HTTP Basic).',
        'feeds',
      );
    if (!isLocal)
      throw new Refusal(
        'strange_host',
        'A feed without a password is only for this machine: use 127.0.0.1.',
      );
    return unguarded;
  }

  const opened = await tryPassword(c, 'feeds', async () => {
    const found: FeedState[] = [];
    for (const state of guarded)
      if (await state.feed.access?.accepts(given.username, given.password)) found.push(state);
    return found.length === 0 ? null : found;
  });
  c.env.exchange.audit = { user: given.username };
  return isLocal ? [...opened, ...unguarded] : opened;
}

function replyWith(c: AppContext, { path, once }: Feed, sheet: Sheet): Response {
  c.header('etag', sheet.etag);
  c.header('cache-control', 'private, no-cache');
  if (hasTag(sheet.etag, c.req.header('if-none-match'))) return c.body(null, 304);
  const headers = {
    'content-type': path.endsWith('.tsv')
      ? 'text/tab-separated-values; charset=utf-8'
      : 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="${path.slice(path.lastIndexOf('/') + 1)}"`,
  };
  const { body, period } = sheet;
  if (once === null || period === null) return wholeReply(c, body, headers);

  const noted = async function* (): AsyncGenerator<Buffer> {
    for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
    c.req.raw.signal.throwIfAborted();
    // All of it was taken. If this fails, so does the response, and the tool fetches again.
    await noteSent(once.ledger, path, period, sheet);
  };

  // What packs a sheet would take all of it before the client has taken anything.
  c.header('cache-control', 'private, no-cache, no-transform');
  return streamReply(c, noted(), headers);
}

/** How a feed is doing. It has counts and times, nothing about callers. */
async function factsOf(state: FeedState, store: Pick<Store, 'verdict'>, now: number) {
  const { feed, latest, lastFetch, fetches, refusals, failedAt } = state;
  const iso = (at: number | null = null) => (at === null ? null : new Date(at).toISOString());
  const period =
    'report' in feed
      ? // What is wrong with a file of the report is said to who fetches it.
        await feed.report.plan(feed.account, now).then(
          ({ period }) => period,
          () => everything,
        )
      : periodOfText({ from: sinceOf(feed, now, feed.history), to: null });
  const verdict = await store.verdict(feed.account, period);
  return {
    path: feed.path,
    format: 'report' in feed ? `report ${feed.report.name}` : feed.format.name,
    account: feed.account,
    days: 'report' in feed ? null : feed.days,
    lastFetch: iso(lastFetch),
    fetches,
    refusals,
    madeAt: iso(latest?.madeAt),
    failedAt: iso(failedAt),
    incomplete: verdict && describe(verdict).lacks,
    only: verdict && describe(verdict).scope,
    rows: latest?.rows ?? null,
    leftOut: Object.fromEntries(latest?.leftOut ?? []) as Partial<Record<LeftOutReason, number>>,
  };
}

const heads = [
  'Feed',
  'Format',
  'Account',
  'Days',
  'Last fetch',
  'Fetches',
  'Refused',
  'Sheet made',
  'Failed',
  'Calls in the store',
  'Rows',
  'Calls left out',
];

async function statusPage(c: AppContext, feeds: readonly Awaited<ReturnType<typeof factsOf>>[]) {
  const { reasonTexts } = await import('@call-attribution/conversions');
  const texts: Readonly<Record<string, string>> = {
    ...reasonTexts,
    sent_before: 'the call was in the feed in an earlier period',
  };
  const rows = feeds.map(({ incomplete, only, leftOut, ...facts }) => {
    const { rows, ...others } = facts;
    const lacks = [...(incomplete === null ? [] : [`INCOMPLETE: ${incomplete}`]), only ?? ''].join(
      ' ',
    );
    const reasons = Object.entries(leftOut).sort(([, a], [, b]) => b - a);
    const list = reasons.map(([reason, count]) => `${count} × ${texts[reason]}`).join('; ');
    const cells = [...Object.values(others), lacks, rows, list];
    return html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`;
  });
  const page = await html`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Feeds</title>
<h1>Feeds</h1>
<table border="1" cellpadding="6">
<tr>${heads.map((head) => html`<th>${head}</th>`)}</tr>
${rows}
</table>
<p>Times are in UTC. Counts are those of this process, since it was started.</p>
</html>
`;
  return wholeReply(c, String(page), {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  });
}

/** Feeds in the text format of Prometheus. */
function metricsOf(states: readonly FeedState[]): string {
  if (states.length === 0) return '';

  const family = (
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    value: (state: FeedState) => number | null | undefined,
  ) => ({
    name: `calls_feed_${name}`,
    type,
    help,
    samples: states
      .map((state) => ({ value: value(state) ?? null, labels: { feed: state.feed.path } }))
      .filter((sample): sample is typeof sample & { value: number } => sample.value !== null),
  });

  return metricsText([
    family('fetches_total', 'counter', 'Fetches with success.', ({ fetches }) => fetches),
    family('refusals_total', 'counter', 'Fetches that were refused.', ({ refusals }) => refusals),
    family(
      'last_fetch_timestamp_seconds',
      'gauge',
      'When it was last fetched.',
      ({ lastFetch }) => lastFetch && Math.floor(lastFetch / 1000),
    ),
    family('rows', 'gauge', 'Conversions in the sheet.', ({ latest }) => latest?.rows),
    family('failing', 'gauge', '1 while the sheet cannot be made.', ({ failedAt }) =>
      failedAt === null ? 0 : 1,
    ),
  ]);
}
