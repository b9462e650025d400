// Serves conversions at an address that Google Ads fetches each day, with a password, and sends
// them again only when they change.
import assert from 'node:assert/strict';
import { sheetFormats } from '@call-attribution/conversions';
import { generate } from '@call-attribution/sandbox';
import { createService, readFeeds } from '@call-attribution/service';
import { openStore } from '@call-attribution/store';

const calls = [...generate({ records: 800, days: 10, to: '2026-11-01 00:00:00' })];
const account = String(calls[0]?.acct_id);
const store = await openStore('sqlite::memory:');
await store.putAccount({ id: account, name: 'Main' });
await store.upsert(account, calls);

const file = {
  timeZone: 'America/New_York',
  feeds: [
    {
      path: '/feeds/clicks.csv',
      format: 'google-ads-clicks',
      account,
      window: '14d',
      conversionName: 'Phone lead',
      value: 25,
      currency: 'USD',
      user: 'google',
      passwordEnv: 'CALLS_FEED_PASSWORD',
    },
  ],
};
const env = { CALLS_FEED_PASSWORD: 'a-long-random-password' };
const feeds = await readFeeds(JSON.stringify(file), { source: 'feeds.json', folder: '.', env });
const service = createService({ store, feeds, clock: { now: () => Date.UTC(2026, 10, 2) } });
try {
  const { url } = await service.listen();
  const address = `${url}/feeds/clicks.csv`;
  assert.equal((await fetch(address)).status, 401);

  const authorization = `Basic ${Buffer.from('google:a-long-random-password').toString('base64')}`;
  const first = await fetch(address, { headers: { authorization } });
  const [head, ...rows] = (await first.text()).trim().split('\r\n');
  const rules = { timeZone: 'America/New_York', conversionName: 'Phone lead', now: 0 };
  const titles = sheetFormats['google-ads-clicks'].columns(rules).map(({ title }) => title);
  assert.equal(head, titles.join());
  assert(rows.length > 20);

  const etag = String(first.headers.get('etag'));
  const again = await fetch(address, { headers: { authorization, 'if-none-match': etag } });
  assert.equal(again.status, 304);
  console.log(
    `${rows.length} of ${calls.length} calls are conversions; the second fetch sent nothing`,
  );
} finally {
  await service.close();
  await store.close();
}
