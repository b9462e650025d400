import type { Call } from '@call-attribution/core';
import { generate, testKeys } from '@call-attribution/sandbox';
import { createService, type ServiceOptions } from '@call-attribution/service';
import { openStore } from '@call-attribution/store';
import { afterAll } from 'vitest';
import { raw } from './raw.ts';

/** The calls of account 101, in the order of the API. */
export const calls: readonly Call[] = [...generate({ records: 60 })].sort((a, b) => {
  const [one, other] =
    a.date_added === b.date_added ? [a.sid, b.sid] : [a.date_added, b.date_added];
  return one < other ? -1 : 1;
});
/** The one call of account 102. */
export const foreign: Call = {
  ...(generate({ records: 1, seed: 9 }).next().value as Call),
  sid: 'FOREIGN-1',
};

/** What opens account 101. */
export const keys = {
  access_key: testKeys('101').accessKey,
  secret_key: testKeys('101').secretKey,
};
export const bearer = { authorization: `Bearer ${testKeys('101').bearerToken}` };

/** A service over these calls, gone when the test file is done. */
export async function openWorld(options: Omit<ServiceOptions, 'store'> = {}) {
  const store = await openStore('sqlite::memory:');
  const accounts = ['101', '102', '103'].map((id) => ({
    id,
    name: `Account ${id}`,
    ...testKeys(id),
  }));
  const service = createService({ accounts, ...options, store });
  const { url } = await service.listen();
  await store.upsert('101', calls);
  await store.upsert('102', [foreign]);
  await store.putSmsNumbers('101', [
    { number: '5555550100', smsEnabled: '1', url: 'https://listener.example/sms?a=1&b="2"' },
    { number: '5555550101', smsEnabled: '0', url: 'https://listener.example/' },
  ]);
  afterAll(async () => {
    await service.close();
    await store.close();
  });
  return {
    url,
    store,
    get: (path: string, headers: Record<string, string> = keys) => raw(url, path, { headers }),
    sms: (query: string) => raw(url, `/ibp_api.php?${query}`),
  };
}

/** The sids of a list. */
export function sidsOf(records: unknown): string[] {
  return (records as { sid: string }[]).map(({ sid }) => sid);
}
