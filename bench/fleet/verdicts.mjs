// Fills a ledger: one verdict is written by the target, the others are copies of it for all accounts and parcels.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../packages/fleet/package.json', import.meta.url));

/** Puts a verdict of seven records under each parcel of a plan, for each account. */
export async function copyVerdicts(into, target, accounts, plan) {
  const [{ id }] = accounts;
  const [parcel] = plan.parcels;
  const { index, from, to } = parcel;
  const claim = await target.claim(id, parcel, 'bench');
  await claim.commit({
    ...{ account: id, index, from, to, records: 7, total: 7, requests: 1, rereads: 0, skipped: 0 },
    ...{ at: 0, by: 'bench', version: '0.0.0' },
  });
  const rows = into.startsWith('sqlite:') ? sqliteRows(into) : await postgresRows(into);
  try {
    const [row] = await rows.all(`SELECT name, note FROM claims WHERE name LIKE 'parcel%'`);
    const verdict = JSON.parse(row.note);
    if (!row.name.includes(from)) throw new Error(`parcels have other names now: ${row.name}`);
    for (const account of accounts) {
      const names = plan.parcels.map((parcel) => row.name.replace(from, parcel.from));
      const notes = plan.parcels.map(({ index, from, to }) =>
        JSON.stringify({ ...verdict, account: account.id, index, from, to }),
      );
      await rows.add(account.id, names, notes);
    }
  } finally {
    await rows.close();
  }
}

const columns = '(account, name, token, holder, claimed_at, note, noted_at)';

function sqliteRows(into) {
  const Database = require('libsql');
  const database = new Database(into.slice('sqlite:'.length));
  const insert = database.prepare(
    `INSERT OR IGNORE INTO claims ${columns} VALUES (?, ?, 1, 'bench', 0, ?, 0)`,
  );
  return {
    all: async (sql) => database.prepare(sql).all(),
    async add(account, names, notes) {
      database.exec('BEGIN');
      for (const [i, name] of names.entries()) insert.run(account, name, notes[i]);
      database.exec('COMMIT');
    },
    close: async () => database.close(),
  };
}

async function postgresRows(into) {
  const { Client } = require('pg');
  const client = new Client({ connectionString: into });
  await client.connect();
  const sql = `INSERT INTO claims ${columns}
    SELECT $1, name, 1, 'bench', 0, note, 0 FROM unnest($2::text[], $3::text[]) AS rows (name, note) ON CONFLICT DO NOTHING`;
  return {
    all: async (sql) => (await client.query(sql)).rows,
    add: (account, names, notes) => client.query(sql, [account, names, notes]),
    close: () => client.end(),
  };
}
