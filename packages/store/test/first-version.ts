import { type Call, fields, isCallExtension } from '@call-attribution/core';
import type { Driver } from '../src/database/driver.ts';
import { firstTables, migrate } from '../src/database/migrations.ts';
import { openPostgres } from '../src/database/postgres.ts';
import { openSqlite } from '../src/database/sqlite.ts';
import { differences } from '../src/rows/tally.ts';
import { noTalk, secondsOf, tenthsOf } from '../src/rows/wire-values.ts';

const shared = fields.flatMap((f) => (f.v2 !== null && f.v2 === f.v3 ? [[f.name, f.name] as const] : []));
const onlyV2 = fields.flatMap((f) => (f.v2 !== null && f.v2 !== f.v3 ? [[f.name, f.v2] as const] : []));
const onlyV3 = fields.flatMap((f) => (f.v3 !== null && f.v2 !== f.v3 ? [[f.name, f.v3] as const] : []));
const known = new Set(fields.flatMap((f) => [f.name, f.v2, f.v3]));

/** A call as the first version of the schema kept it: what both versions share, and the end of the record of each. */
export function documentParts(call: Call): { common: string; v2: string; v3: string } {
  const record = call as unknown as Record<string, unknown>;
  const print = (list: readonly (readonly [string, string])[]) =>
    list.map(([name, wire]) => `${JSON.stringify(wire)}:${JSON.stringify(record[name] ?? null)}`).join(',');
  const unknown = Object.keys(record)
    .filter((name) => !known.has(name))
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(record[name])},`)
    .join('');
  return {
    common: `{${print(shared)},${unknown}`,
    v2: `${print(onlyV2)}}`,
    v3: `${print(onlyV3)}}`,
  };
}

/** Makes a store of the first version with these calls, and the state of a sync. */
export async function firstVersion(url: string, calls: readonly Call[], state: unknown): Promise<void> {
  const isPostgres = url.startsWith('postgres');
  const driver: Driver = isPostgres ? openPostgres(url) : await openSqlite(url.slice('sqlite:'.length));
  await migrate(driver, [firstTables]);
  const rows = calls.map((call) => ({
    call,
    at: secondsOf(call.date_added) as number,
    talk: call.talk_minutes === null ? noTalk : (tenthsOf(call.talk_minutes) as number),
    extension: isCallExtension(call) ? 1 : 0,
  }));
  await driver.write(async (session) => {
    await session.run("INSERT INTO accounts (account, name, disabled, salt) VALUES ('1', 'Old', 0, 'salt')");
    await session.run("INSERT INTO sync_state (account, state, committed_at) VALUES ('1', $1, 7)", [
      JSON.stringify(state),
    ]);
    const bytes = (text: string) => (isPostgres ? text : Buffer.from(text));
    for (const { call, at, talk, extension } of rows) {
      const { common, v2, v3 } = documentParts(call);
      await session.run(
        'INSERT INTO calls (account, sid, at, talk, extension, common, v2, v3) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)',
        ['1', call.sid, at, talk, extension, bytes(common), bytes(v2), bytes(v3)],
      );
    }
    for (const c of differences(rows, []))
      await session.run(
        'INSERT INTO tally (account, level, bucket, extension, talk, n) VALUES ($1, $2, $3, $4, $5, $6)',
        ['1', c.level, c.bucket, c.extension, c.talk, c.n],
      );
  });
  await driver.close();
}
