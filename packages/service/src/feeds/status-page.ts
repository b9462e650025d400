import type { LeftOutReason } from '@call-attribution/conversions';
import { type MetricFamily, metricsText } from '@call-attribution/node-stream/status';
import { type AppContext, jsonReply, wholeReply } from '../http/context.ts';
import type { FeedState } from './desk.ts';

const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** How a feed is doing, and what the calls that it is made of lack. */
interface ShownFeed extends FeedState {
  readonly lacks: string | null;
}

/** How feeds are doing, as a page for people. It has counts and times, nothing about callers. */
export async function statusPage(
  c: AppContext,
  states: readonly ShownFeed[],
  now: number,
): Promise<Response> {
  const { reasonTexts } = await import('@call-attribution/conversions');
  const textOf = (reason: LeftOutReason | 'sent_before'): string =>
    reason === 'sent_before' ? 'the call was in the feed in an earlier period' : reasonTexts[reason];
  const rows = states.map((state) => {
    const { feed, latest, failedAt, lacks } = state;
    const leftOut = [...(latest?.leftOut ?? [])].sort(([, a], [, b]) => b - a);
    const list = leftOut.map(([reason, calls]) => `${calls} × ${text(textOf(reason))}`).join('<br>');
    const made = failedAt === null ? time(latest?.madeAt ?? null, now) : `failed ${time(failedAt, now)}`;
    const cells = [
      `${text(feed.path)}<br>${text(feed.format.title)}, account ${text(feed.account)}, last ${feed.days} days${lacks === null ? '' : `<br>INCOMPLETE: ${text(lacks)}`}`,
      time(state.lastFetch, now),
      String(state.fetches),
      String(state.refusals),
      made,
      latest === null ? '' : String(latest.rows),
      list === '' ? '' : list,
    ];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  const heads = ['Feed', 'Last fetch', 'Fetches', 'Refused', 'Sheet made', 'Rows', 'Calls left out'];
  const body = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Feeds</title>
<h1>Feeds</h1>
<table border="1" cellpadding="6">
<tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr>
${rows.join('\n')}
</table>
<p>Times are in UTC. Counts are those of this process, since it was started.</p>
</html>
`;
  return wholeReply(c, body, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
  });
}

/** The same for programs. */
export function statusJson(c: AppContext, states: readonly ShownFeed[]): Response {
  const feeds = states.map(({ feed, latest, lastFetch, fetches, refusals, failedAt, lacks }) => ({
    path: feed.path,
    format: feed.format.name,
    account: feed.account,
    days: feed.days,
    lastFetch: iso(lastFetch),
    fetches,
    refusals,
    madeAt: iso(latest?.madeAt ?? null),
    failedAt: iso(failedAt),
    incomplete: lacks,
    rows: latest?.rows ?? null,
    bytes: latest?.bytes ?? null,
    leftOut: Object.fromEntries(latest?.leftOut ?? []),
  }));
  return jsonReply(c, `${JSON.stringify({ feeds })}\n`);
}

/** Feeds in the text format of Prometheus. */
export function feedMetrics(states: readonly FeedState[]): string {
  const family = (
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    value: (state: FeedState) => number | null,
  ): MetricFamily => ({
    name,
    type,
    help,
    samples: states.flatMap((state) => {
      const found = value(state);
      return found === null ? [] : [{ value: found, labels: { feed: state.feed.path } }];
    }),
  });
  return metricsText([
    family('calls_feed_fetches_total', 'counter', 'Fetches with success.', ({ fetches }) => fetches),
    family('calls_feed_refusals_total', 'counter', 'Fetches that were refused.', ({ refusals }) => refusals),
    family(
      'calls_feed_last_fetch_timestamp_seconds',
      'gauge',
      'When it was last fetched.',
      ({ lastFetch }) => (lastFetch === null ? null : Math.floor(lastFetch / 1000)),
    ),
    family('calls_feed_rows', 'gauge', 'Conversions in the sheet.', ({ latest }) => latest?.rows ?? null),
    family('calls_feed_failing', 'gauge', '1 while the sheet cannot be made.', ({ failedAt }) =>
      failedAt === null ? 0 : 1,
    ),
  ]);
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function time(at: number | null, now: number): string {
  if (at === null) return 'never';
  const minutes = Math.max(0, Math.round((now - at) / 60_000));
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} (${minutes} min ago)`;
}

const text = (value: string): string =>
  value.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
