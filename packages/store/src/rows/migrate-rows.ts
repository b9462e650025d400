import type { Call } from '@call-attribution/core';
import type { Step } from '../database/migrations.ts';
import { addLayout, currentLayout } from './layouts.ts';
import { type StoredCall, toStored } from './stored-call.ts';
import { intoCalls } from './write.ts';

const batch = 500;

/**
 * From rows with three parts of a document to rows with packed values. They are copied into a new table, and the counts stay:
 * such rows were refused unless they could be counted exactly.
 */
export const packRows: Step = async (session, driver) => {
  const { key } = driver.dialect;
  await session.run('CREATE TABLE layouts (id smallint NOT NULL PRIMARY KEY, names text NOT NULL)');
  await session.run('DROP INDEX calls_page');
  await session.run('ALTER TABLE calls RENAME TO unpacked_calls');
  await session.run(`CREATE TABLE calls (
    account ${key} NOT NULL, sid ${key} NOT NULL, at bigint NOT NULL, talk integer NOT NULL, extension smallint NOT NULL,
    layout smallint NOT NULL, packed text NOT NULL, PRIMARY KEY (account, sid))`);
  const layout = await addLayout(driver, session);
  for (let account = '', sid = ''; ; ) {
    const rows = await session.all(
      `SELECT account, sid, common, v2, v3 FROM unpacked_calls
        WHERE account > $1 OR (account = $1 AND sid > $2) ORDER BY account, sid LIMIT ${batch}`,
      [account, sid],
    );
    await session.many(
      intoCalls,
      rows.map((row) => {
        const c = packed(row);
        return [String(row.account), c.key, c.at, c.talk, c.extension, layout, c.packed];
      }),
    );
    const last = rows.at(-1);
    if (last === undefined) break;
    account = String(last.account);
    sid = String(last.sid);
  }
  await session.run('DROP TABLE unpacked_calls');
  await session.run('CREATE INDEX calls_page ON calls (account, at, sid, talk, extension)');
};

/** A row whose parts are bytes (SQLite) or strings (PostgreSQL), packed. */
function packed(row: Readonly<Record<string, unknown>>): StoredCall {
  const [common, v2, v3] = [row.common, row.v2, row.v3].map((part) =>
    typeof part === 'string' ? part : Buffer.from(part as ArrayBuffer).toString('utf8'),
  );
  const call = JSON.parse(`${common}${v3}`) as Record<string, unknown>;
  const older = JSON.parse(`{${v2}`) as Record<string, unknown>;
  // Of the fields of v2 only those have a neutral name of their own that v3 does not have.
  for (const name of currentLayout) if (!(name in call) && name in older) call[name] = older[name];
  return toStored(call as unknown as Call);
}
