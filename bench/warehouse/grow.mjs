// Makes a warehouse larger without generating calls: its first calls come again with other sids, later times, and callers
// by the same rule as in `calls.mjs`. Copying inside the database takes a fraction of the work of loading.
import { createRequire } from 'node:module';

const { DuckDBInstance } = createRequire(new URL('../../packages/warehouse/package.json', import.meta.url))(
  '@duckdb/node-api',
);

/** Repeats the first `base` calls, which take `days` days, until there are `size`. */
export async function grow(path, base, days, size) {
  const db = await DuckDBInstance.create(path, {
    threads: '1',
    memory_limit: '700MB',
    storage_compatibility_version: 'latest',
  });
  const connection = await db.connect();
  const run = (sql) => connection.run(sql);
  const { n } = (await (await run('SELECT count(*)::INTEGER AS n FROM records')).getRowObjectsJson())[0];
  for (let first = n; first < size; first += base) {
    const met = '((i * 0.62)::UINTEGER)';
    await run('BEGIN');
    await run(`CREATE OR REPLACE TEMP TABLE met AS
      SELECT i, CASE WHEN hash(i) % 100 < 62 THEN ${met} ELSE (hash(i + 1e9::BIGINT) % ${met})::UINTEGER END AS no
        FROM range(${first}, ${first + base}) t(i)`);
    await run(`CREATE OR REPLACE TEMP TABLE strangers AS
      SELECT no, min(i) AS i FROM met ANTI JOIN callers USING (no) GROUP BY no`);
    await run('INSERT INTO callers SELECT 19000000000 + no, no FROM strangers');
    await run(`CREATE OR REPLACE TEMP TABLE fresh AS
      SELECT met.i, met.no, caller_key, strangers.i IS NOT NULL AS is_first
        FROM met JOIN callers USING (no) LEFT JOIN strangers USING (i) ORDER BY met.i`);
    const later = `to_days(${Math.round((first / base) * days)})`;
    await run(`INSERT INTO records SELECT old.* REPLACE (
        (${first / base} || old.sid) AS sid, old.date_added + ${later} AS date_added,
        old.displayed_timestamp + ${later} AS displayed_timestamp,
        fresh.caller_key AS caller_key, fresh.no AS caller_no, fresh.is_first AS is_first)
      FROM (SELECT * FROM records LIMIT ${base}) old POSITIONAL JOIN fresh`);
    await run(`UPDATE accounts SET calls = ${first + base}`);
    await run('COMMIT');
  }
  connection.closeSync();
  db.closeSync();
}
