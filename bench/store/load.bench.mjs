// Loading a store from NDJSON, against the floor: the same lines inserted as they are by the same driver, with the same keys and
// the same index, 500 per transaction (importCalls writes 1,000); for PostgreSQL also COPY in one piece. Ways take turns within
// each round.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromCall } from '@call-attribution/core';
import { generate } from '@call-attribution/sandbox';
import { importCalls, openStore } from '@call-attribution/store';
import { limit, median, timed } from '../figures.mjs';
import { postgresServer } from './postgres-server.mjs';

const records = Number(process.env.CALLS_BENCH_RECORDS ?? 50_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 5);
const batch = 500;
const storeRequire = createRequire(new URL('../../packages/store/package.json', import.meta.url));
const Database = storeRequire('libsql');
const pg = storeRequire('pg');
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));

const calls = [];
for (const call of generate({ records, days: 730 })) calls.push(call);
const lines = calls.map((call) => JSON.stringify(fromCall(call, 'v3')));
const bytes = Buffer.from(`${lines.join('\n')}\n`);
console.log(`${records} v3 records, ${(bytes.length / records).toFixed(0)} bytes each as NDJSON`);
const rows = calls.map((call, i) => [
  '101',
  call.sid,
  Date.parse(`${call.date_added}Z`) / 1000,
  Math.round(Number(call.talk_minutes ?? -0.1) * 10),
  call.channel === 'Tracker' ? 0 : 1,
  lines[i],
]);
async function* chunks() {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

const table = (key) =>
  `CREATE TABLE raw (account ${key} NOT NULL, sid ${key} NOT NULL, at bigint NOT NULL, talk integer NOT NULL,
     extension smallint NOT NULL, line text NOT NULL, PRIMARY KEY (account, sid))`;
const index = 'CREATE INDEX raw_page ON raw (account, at, sid, talk, extension)';

const results = {};
const note = (what, { cpu, wall }) => {
  results[what] ??= { cpu: [], wall: [] };
  results[what].cpu.push((cpu * 1000) / records);
  results[what].wall.push((wall * 1000) / records);
};

async function load(what, url, work) {
  const store = await openStore(url);
  await store.putAccount({ id: '101', name: 'bench' });
  note(what, await timed(() => work(store)));
  const { bytes: size } = await store.sizes();
  results[what].disk = size / records;
  await store.close();
}

async function sqliteRound(round) {
  const url = (what) => `sqlite:${join(folder, `${what}-${round}.db`)}`;
  await load('SQLite, importCalls', url('import'), (store) => importCalls(store, '101', chunks()));
  await load('SQLite, load of calls', url('load'), (store) => store.load('101', calls));
  const raw = new Database(join(folder, `raw-${round}.db`));
  raw.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536');
  raw.exec(`${table('TEXT')}; ${index}`);
  const insert = raw.prepare('INSERT INTO raw VALUES (?, ?, ?, ?, ?, ?)');
  note(
    'SQLite, raw inserts',
    await timed(async () => {
      for (let at = 0; at < rows.length; at += batch) {
        raw.exec('BEGIN IMMEDIATE');
        for (const row of rows.slice(at, at + batch)) insert.run(row);
        raw.exec('COMMIT');
      }
    }),
  );
  raw.close();
}

async function postgresRound(server) {
  await load('PostgreSQL, importCalls', await server.newUrl(), (store) =>
    importCalls(store, '101', chunks()),
  );
  const client = new pg.Client({ connectionString: await server.newUrl() });
  await client.connect();
  await client.query(`${table('text COLLATE "C"')}; ${index}`);
  const escapes = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
  const cell = (value) => String(value).replace(/[\\\t\n\r]/g, (character) => escapes[character]);
  note(
    'PostgreSQL, COPY in one piece',
    await timed(
      () =>
        new Promise((resolve, reject) => {
          client.query({
            callback: (error) => (error ? reject(error) : resolve()),
            submit: (connection) => connection.query('COPY raw FROM STDIN'),
            handleCopyInResponse(connection) {
              for (let at = 0; at < rows.length; at += batch)
                connection.sendCopyFromChunk(
                  Buffer.from(
                    rows
                      .slice(at, at + batch)
                      .map((row) => `${row.map(cell).join('\t')}\n`)
                      .join(''),
                  ),
                );
              connection.endCopyFrom();
            },
            handleError: reject,
            handleCommandComplete() {},
            handleReadyForQuery: () => resolve(),
          });
        }),
    ),
  );
  await client.end();
}

const server = await postgresServer();
try {
  for (let round = 0; round < rounds; round += 1) {
    await sqliteRound(round);
    if (server !== null) await postgresRound(server);
  }
  console.log(`µs per record${' '.repeat(19)}CPU here   clock   bytes on disk`);
  for (const [what, { cpu, wall, disk }] of Object.entries(results))
    console.log(
      `  ${what.padEnd(30)} ${median(cpu).toFixed(1).padStart(6)} ${median(wall).toFixed(1).padStart(8)} ${disk?.toFixed(0).padStart(12) ?? ''}`,
    );
  // Within a round both ways meet the same machine.
  const ratio = (a, b) => median(results[a].cpu.map((cpu, round) => cpu / results[b].cpu[round]));
  limit('SQLite: CPU of importCalls in µs', median(results['SQLite, importCalls'].cpu), { most: 44 });
  limit('SQLite: CPU of importCalls to raw inserts', ratio('SQLite, importCalls', 'SQLite, raw inserts'), {
    most: 1.5,
  });
  if (server !== null)
    limit(
      'PostgreSQL: CPU of importCalls to COPY in one piece',
      ratio('PostgreSQL, importCalls', 'PostgreSQL, COPY in one piece'),
      { most: 1.5 },
    );
  limit('SQLite: bytes per record', results['SQLite, importCalls'].disk, { most: 1_200 });
} finally {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
}
