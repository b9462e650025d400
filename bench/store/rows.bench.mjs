// What rows cost: loading a store with all of its indexes, the size of the database against the JSON, and page 5,000 against
// page 0. The peers write the same rows, which are ready, into a table with the same indexes: the driver of SQLite by a prepared
// INSERT in transactions of the same size, PostgreSQL by COPY of one piece of text.
// Ways take turns within each round; figures are medians of the rounds.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromCall, toCall } from '@call-attribution/core';
import { generate } from '@call-attribution/sandbox';
import { everything, openStore } from '@call-attribution/store';
import { limit, median, timed } from '../figures.mjs';
import { postgresServer } from './postgres-server.mjs';

const records = Number(process.env.CALLS_BENCH_RECORDS ?? 100_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 3);
const pages = [0, 5_000];
const rowsOfPage = Math.max(1, Math.floor((records * 0.8) / 5_000));
const ofStore = createRequire(new URL('../../packages/store/package.json', import.meta.url));
const pg = ofStore('pg');
const Database = ofStore('libsql');
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));

const jsonOf = (call) => JSON.stringify(fromCall(call, 'v3'));
const calls = [];
let jsonBytes = 0;
for (const call of generate({ records, days: 730 })) {
  jsonBytes += Buffer.byteLength(jsonOf(call)) + 1;
  calls.push(toCall(JSON.parse(jsonOf(call)), 'v3', { records: 'off' }));
}
console.log(`${records} v3 records, ${(jsonBytes / records).toFixed(0)} bytes each as NDJSON`);

const figures = {};
const note = (what, value) => {
  figures[what] = [...(figures[what] ?? []), value];
};

/** Loads a store, and measures its size and its pages. */
async function measure(name, url, figure) {
  const store = await openStore(url);
  await store.putAccount({ id: '101', name: 'bench' });
  const loading = await timed(() => store.load('101', calls));
  note(`${name}: loading, µs of CPU a call`, (loading.cpu * 1000) / records);
  note(`${name}: loading, µs on the clock a call`, (loading.wall * 1000) / records);
  const { bytes: size } = await store.sizes();
  note(`${name}: bytes of the database against the JSON`, size / jsonBytes);
  for (const page of pages) {
    const times = [];
    for (let i = 0; i < 25; i += 1) {
      const query = { selection: everything, version: 'v3', offset: page * rowsOfPage, rows: rowsOfPage };
      times.push((await timed(() => store.page('101', query)))[figure]);
    }
    note(`${name}: page ${page}, ms`, median(times));
  }
  await store.close();
  return loading;
}

/** A prepared INSERT of the rows of a store into a table like it, in another file. */
function insertAgain(file) {
  const source = new Database(file);
  const rows = source.prepare('SELECT * FROM records ORDER BY rowid').raw().all();
  const made = source
    .prepare("SELECT sql FROM sqlite_master WHERE tbl_name = 'records' AND sql IS NOT NULL")
    .raw()
    .all();
  source.close();
  const copy = new Database(`${file}-copy`);
  for (const pragma of ['journal_mode = WAL', 'synchronous = normal', 'cache_size = -65536'])
    copy.prepare(`PRAGMA ${pragma}`).all();
  for (const [sql] of made) copy.exec(sql);
  const insert = copy.prepare(`INSERT INTO records VALUES (${rows[0].map(() => '?').join(', ')})`);
  return timed(async () => {
    for (let at = 0; at < rows.length; at += 500) {
      copy.exec('BEGIN IMMEDIATE');
      for (const row of rows.slice(at, at + 500)) insert.run(...row);
      copy.exec('COMMIT');
    }
    copy.close();
  });
}

/** COPY of the rows of a store into a table like it. */
async function copyAgain(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const text = [];
  await copy(client, 'COPY records TO STDOUT', { take: (chunk) => text.push(Buffer.from(chunk)) });
  await client.query('CREATE TABLE copied (LIKE records INCLUDING ALL)');
  const took = await timed(() => copy(client, 'COPY copied FROM STDIN', { give: Buffer.concat(text) }));
  await client.end();
  return took;
}

const copy = (client, sql, { give, take = () => {} }) =>
  new Promise((resolve, reject) => {
    client.query({
      callback: (error) => (error ? reject(error) : resolve()),
      submit: (connection) => connection.query(sql),
      handleCopyInResponse(connection) {
        for (let at = 0; at < give.length; at += 65_536)
          connection.sendCopyFromChunk(give.subarray(at, at + 65_536));
        connection.endCopyFrom();
      },
      handleCopyData: ({ chunk }) => take(chunk),
      handleError: reject,
      handleCommandComplete() {},
      handleReadyForQuery: () => resolve(),
    });
  });

const server = await postgresServer();
try {
  for (let round = 0; round < rounds; round += 1) {
    const file = join(folder, `${round}.db`);
    const { cpu } = await measure('SQLite', `sqlite:${file}`, 'cpu');
    const inserted = await insertAgain(file);
    note('SQLite: a prepared INSERT of the same rows, µs of CPU a call', (inserted.cpu * 1000) / records);
    note('SQLite: loading against the prepared INSERT, CPU', cpu / inserted.cpu);
    if (server === null) continue;
    const url = await server.newUrl();
    const { wall } = await measure('PostgreSQL', url, 'wall');
    const copied = await copyAgain(url);
    note('PostgreSQL: COPY of the same rows, µs on the clock a call', (copied.wall * 1000) / records);
    note('PostgreSQL: loading against COPY of the same rows, on the clock', wall / copied.wall);
  }
  for (const [what, values] of Object.entries(figures))
    console.log(`${median(values).toFixed(2).padStart(9)}  ${what}`);
  const of = (what) => median(figures[what]);
  const deep = (name) =>
    median(figures[`${name}: page 5000, ms`].map((ms, round) => ms / figures[`${name}: page 0, ms`][round]));
  limit('SQLite: loading against a prepared INSERT', of('SQLite: loading against the prepared INSERT, CPU'), {
    most: 2.5,
  });
  limit('SQLite: bytes against the JSON', of('SQLite: bytes of the database against the JSON'), {
    most: 1.35,
  });
  limit('SQLite: page 5,000 against page 0', deep('SQLite'), { most: 1.5 });
  if (server !== null) {
    const [ratio, size] = [
      'loading against COPY of the same rows, on the clock',
      'bytes of the database against the JSON',
    ];
    limit('PostgreSQL: loading against COPY', of(`PostgreSQL: ${ratio}`), { most: 1.6 });
    limit('PostgreSQL: bytes against the JSON', of(`PostgreSQL: ${size}`), { most: 1.2 });
    limit('PostgreSQL: page 5,000 against page 0', deep('PostgreSQL'), { most: 1.5 });
  }
} finally {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
}
