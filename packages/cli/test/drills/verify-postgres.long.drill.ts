import { openDrill } from '@call-attribution/test-tools/drill';
import { startPostgres } from '@call-attribution/test-tools/postgres';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { openStage } from '../stage.ts';

openDrill({
  name: 'verify-postgres',
  kind: 'odd records',
  what: 'Rows of a store in PostgreSQL are deleted: calls verify counts the rows themselves, and names what is missing',
  countTests: true,
});

const postgres = startPostgres();
const stage = openStage();
afterAll(async () => {
  await postgres?.close();
});

test.each(postgres === null ? [] : [postgres])(
  'rows that are gone from PostgreSQL are found',
  async ({ url }) => {
    const verify = async (...more: string[]) => {
      const { code, stdout } = await stage.quick(['verify', url, '--json', ...more]);
      return { code, ...JSON.parse(stdout) };
    };

    await expect
      .poll(async () => (await stage.quick(['sync', '--store', url])).code, { timeout: 60_000 })
      .toBe(0);
    expect(await verify()).toMatchObject({ code: 0, verdict: 'proved', checks: [{ rows: 600 }] });
    expect(await verify('--against-api')).toMatchObject({
      code: 0,
      verdict: 'proved',
      checks: [{ rows: 600 }],
    });
    const client = new pg.Client(url);
    await client.connect();
    await client.query(
      'DELETE FROM records WHERE sid IN (SELECT sid FROM records ORDER BY date_added LIMIT 5)',
    );
    await client.end();
    const { checks, ...injured } = await verify('--against-api');
    expect(injured).toEqual({ code: 3, verdict: 'differs' });
    const codes = checks[0].findings.map(({ code }: { code: string }) => code);
    expect(codes).toEqual(expect.arrayContaining(['api', 'unread']));
    const missing = checks[0].findings.reduce(
      (sum: number, { difference }: { difference?: { calls: number } }) =>
        sum + (difference?.calls ?? 0),
      0,
    );
    expect(missing).toBe(5);
    const shown = await stage.quick(['verify', url]);
    expect(shown.stdout).not.toContain('calls@');
    expect((await stage.quick(['sync', '--store', url])).code).toBe(0);
    expect(await verify('--against-api')).toMatchObject({ code: 0, verdict: 'proved' });
  },
);
