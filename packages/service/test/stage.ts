// Accounts, keys and feeds that the tests share.
import { readFeeds } from '../src/index.ts';

export const password = 'correct horse battery';

export const accountOf = (id: string) => ({
  id,
  name: `Account ${id}`,
  accessKey: `access_${id}_key`,
  secretKey: `secret_${id}_key`,
  bearerToken: `bearer_${id}_key`,
});

/** The credentials of an account, as `fetch` takes them. */
export const keysOf = (id: string) => ({
  access_key: `access_${id}_key`,
  secret_key: `secret_${id}_key`,
});

/** The same as lines of a request. */
export const keyLinesOf = (id: string) =>
  `access_key: access_${id}_key\r\nsecret_key: secret_${id}_key\r\n`;

/** A feed without a password. */
export const openFeed = {
  path: '/feeds/clicks.csv',
  format: 'google-ads-clicks',
  account: '101',
  window: '14d',
  conversionName: 'Phone lead',
};
export const feed = { ...openFeed, user: 'google', passwordEnv: 'CALLS_FEED_PASSWORD' };

/** Feeds as the service reads them from a file. */
export const feedsOf = (
  feeds: object[],
  { folder = '.', shared = { timeZone: 'UTC' } as object, configured = {} } = {},
) =>
  readFeeds(JSON.stringify({ ...shared, feeds }), {
    source: 'feeds.json',
    folder,
    env: { CALLS_FEED_PASSWORD: password },
    configured,
  });

/** A clock whose timers wait until a test lets them go. */
export function heldTimers() {
  const held = new Set<() => void>();
  let isHeld = true;

  const timer = (run: () => void): (() => void) => {
    if (isHeld) held.add(run);
    else queueMicrotask(run);
    return () => held.delete(run);
  };

  return {
    clock: { now: () => Date.now(), timer },
    /** How many wait. */
    waiting: () => held.size,
    letGo() {
      isHeld = false;
      for (const run of held) run();
      held.clear();
    },
  };
}
