import { ConfigurationError } from '@call-attribution/core/errors';
import { isLoopback } from '@call-attribution/core/settings';
import { describeCopy } from '@call-attribution/node-stream/copies';
import { where } from '@call-attribution/query-dsl';
import { type Store, selectionOf } from '@call-attribution/store';
import type { Feed, FeedSource } from './feed.ts';

/** A store as the source of feeds. Without a store there is nothing to read. */
export function storeFeeds(store: Store | null): FeedSource {
  return {
    async *calls(account, from, extensions) {
      if (store === null)
        throw new ConfigurationError('invalid_option', 'Feeds without a store need the option feedSource.');
      yield* store.calls(account, selectionOf(where('date_added').from(from), { extensions }));
    },
    async lacks(account, from) {
      const verdict = await store?.verdict(account, { from, to: null });
      return verdict ? describeCopy(verdict) : null;
    },
  };
}

/** Refuses to offer a feed without a password to other machines. */
export function refuseOpenFeeds(
  {
    feeds = [],
    proxies = [],
  }: { readonly feeds?: readonly Feed[] | undefined; readonly proxies?: readonly string[] | undefined },
  host: string,
): void {
  const open = feeds.find(({ access }) => access === null);
  if (open === undefined || (isLoopback(host) && proxies.length === 0)) return;
  const by = isLoopback(host) ? 'through a proxy' : `at ${host || 'all addresses'}`;
  throw new ConfigurationError(
    'invalid_option',
    `The feed ${open.path} has no password, and others can reach it ${by}. Give it "user" and "passwordEnv", or listen on 127.0.0.1.`,
  );
}
