// Makes a warehouse larger without generating calls: its first calls come again with other sids, later times, and callers
// by the same rule as in `calls.mjs`. Copying inside the database takes a fraction of the work of loading.
import { createRequire } from 'node:module';
import { fields } from '@call-attribution/core';

const { DuckDBInstance } = createRequire(new URL('../../packages/warehouse/package.json', import.meta.url))(
  '@duckdb/node-api',
);

async function connect(path) {
  const db = await DuckDBInstance.create(path, {
    threads: '1',
    memory_limit: '700MB',
    storage_compatibility_version: 'latest',
  });
  const connection = await db.connect();
  const close = () => {
    connection.closeSync();
    db.closeSync();
  };
  return { run: (sql) => connection.run(sql), close };
}

/** Repeats the first `base` calls, which take `days` days, until there are `size`. */
export async function grow(path, base, days, size) {
  const { run, close } = await connect(path);
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
  close();
}

/** Writes the calls of a warehouse as lines of JSON. */
export async function exportLines(path, lines) {
  const { run, close } = await connect(path);
  const columns = await (
    await run("SELECT column_name AS name FROM duckdb_columns() WHERE table_name = 'records'")
  ).getRowObjectsJson();
  const names = new Set(columns.map(({ name }) => name));
  // The numbers of callers are those of `grow`, which the column of the API's numbers does not have.
  const values = fields
    .filter(({ name }) => names.has(name))
    .map(({ name, wire }) => {
      if (name === 'ani') return 'caller_key::VARCHAR AS ani';
      return wire === 'integer' ? `"${name}"` : `"${name}"::VARCHAR AS "${name}"`;
    });
  await run(`COPY (SELECT ${values.join(', ')} FROM records) TO '${lines}' (FORMAT json)`);
  close();
}
