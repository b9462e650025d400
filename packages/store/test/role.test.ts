import { testStores } from '@call-attribution/test-tools';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../src/index.ts';
import { openAt, runOn, smallCall } from './small-calls.ts';

const postgres = testStores().filter(({ kind }) => kind === 'postgres');

describe.each(postgres)('a role of $kind that may only read', ({ newUrl }) => {
  test('is told what it may not read, and how to grant it', async () => {
    const url = await newUrl();
    await using store = await openAt(url);
    await store.upsert('101', [smallCall('a', '2026-01-01 00:00:00', '1.0')]);
    const schema = /search_path=(\w+)/.exec(decodeURIComponent(url))?.[1] ?? 'public';
    const role = `analyst_${process.pid}`;
    await runOn(
      url,
      `CREATE ROLE ${role} LOGIN`,
      `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
      `GRANT SELECT ON calls TO ${role}`,
    );
    onTestFinished(() => runOn(url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`));
    const own = new URL(url);
    own.username = role;
    const open = () => openStore(own.href, { readOnly: true });

    const refused = await open().catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'store_unavailable',
      kind: 'keys',
      message: expect.stringMatching(
        /^The user of the store has no right to the table "meta" \(42501\)\. Who only reads needs: /,
      ),
    });
    const [grant] = /GRANT SELECT ON [a-z, ]+ TO /.exec(String(refused)) ?? [];
    await runOn(url, `${grant}${role}`);
    await using reader = await open();
    expect(await reader.count('101')).toBe(1);
    expect(await reader.verdict('101')).toBeNull();
    expect((await reader.removals('101')).erased).toEqual([]);
    expect(await reader.sizes()).toMatchObject([{ account: '101', calls: 1 }]);
    await using writer = await openStore(own.href);
    await expect(writer.remove('101', ['a'])).rejects.toMatchObject({
      kind: 'keys',
      message: expect.stringContaining('has no right to the table "accounts"'),
    });
  });
});
