import { describe, expect, test } from 'vitest';
import { storeFile, storeKind } from '../src/database/store-url.ts';
import { openStore, querySql } from '../src/index.ts';

describe('the URL of a store', () => {
  test.each([
    ['sqlite:calls.db', 'sqlite', 'calls.db'],
    ['sqlite:/var/lib/a b?.db', 'sqlite', '/var/lib/a b?.db'],
    ['SQLite:calls.db', 'sqlite', 'calls.db'],
    ['sqlite:postgres://x', 'sqlite', 'postgres://x'],
    ['sqlite::memory:', 'sqlite', null],
    ['sqlite:', 'sqlite', null],
    ['postgres://user@host/calls', 'postgres', null],
    ['postgresql://user@host/calls', 'postgres', null],
    ['POSTGRES://user@host/calls', 'postgres', null],
    ['postgres:/host/calls', 'postgres', null],
    ['calls.db', null, null],
    ['postgres.ndjson', null, null],
    ['C:\\calls.ndjson', null, null],
    ['mysql://user@host/calls', null, null],
    ['constructor:x', null, null],
    [{ url: 'sqlite:x' } as unknown as string, null, null],
  ])('%s is of kind %s, its file %s', (url, kind, file) => {
    expect([storeKind(url), storeFile(url)]).toEqual([kind, file]);
  });

  test.each(['postgres:/host/calls', 'sqlite:', 'sqlite:///calls.db', 'mysql://u:hidden@h/db'])(
    'is refused alike by a store and by SQL: %s',
    async (url) => {
      const errors = await Promise.all(
        [openStore(url), querySql(url, 'select 1')].map((opened) =>
          opened.catch((error: unknown) => error),
        ),
      );
      expect(errors[0]).toMatchObject({ code: 'store_url' });
      expect(errors[1]).toEqual(errors[0]);
      expect(String(errors[0])).not.toContain('hidden');
    },
  );
});
