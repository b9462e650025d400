// Exact totals and deep pages over 1,000,000 calls of one account, on SQLite and PostgreSQL, against the naive way:
// OFFSET for the page and count(*) for the total, on the same rows, with the plain index (account, at) and with the
// covering index that the store itself uses. Ways take turns within each round; the figure is the median of the rounds.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from '@call-attribution/sandbox';
import { openStore } from '@call-attribution/store';
import { limit, median, timed } from '../figures.mjs';
import { postgresServer } from './postgres-server.mjs';

const records = Number(process.env.CALLS_BENCH_RECORDS ?? 1_000_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 5);
const storeRequire = createRequire(new URL('../../packages/store/package.json', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));

// Almost everything matches: the worst case for whoever has to count and skip.
const selection = { from: -(2 ** 37), to: 2 ** 38, talk: { from: 3, to: 2 ** 31 - 2 }, extensions: false };
const rows = 100;
const pages = [0, Math.min(5_000, Math.floor((records * 0.6) / rows))];
const account = '101';

async function bodyOf(page) {
  if (Buffer.isBuffer(page.body)) return page.body;
  const parts = [];
  for await (const part of page.body) parts.push(part);
  return Buffer.concat(parts);
}

const where = "account = '101' AND talk >= 3 AND extension = 0";
const naivePage = (page) =>
  `SELECT record FROM records WHERE ${where} ORDER BY at, sid LIMIT ${rows} OFFSET ${page * rows}`;
// The kindest form for a covering index: find the keys in it alone, then fetch the documents of one page.
const coveringPage = (page) =>
  `SELECT c.record FROM (SELECT at, sid FROM records WHERE ${where} ORDER BY at, sid LIMIT ${rows} OFFSET ${page * rows}) p
     JOIN records c ON c.account = '101' AND c.sid = p.sid ORDER BY p.at, p.sid`;
const naiveCount = `SELECT count(*) AS n FROM records WHERE ${where}`;

async function measure(name, url, direct, figure) {
  const store = await openStore(url);
  await store.putAccount({ id: account, name: 'bench' });
  const filled = await timed(() => store.load(account, generate({ records, days: 730 }), { batch: 2_000 }));
  console.log(
    `\n${name}: ${records} calls in ${(filled.wall / 1000).toFixed(0)} s (${((records / filled.cpu) * 1000).toFixed(0)} per second of CPU here)`,
  );
  await direct(name === 'SQLite' ? 'ANALYZE' : 'VACUUM ANALYZE');

  const ours = (page) =>
    timed(async () =>
      bodyOf(await store.page(account, { selection, version: 'v3', offset: page * rows, rows })),
    );
  const naive = (page, query) =>
    timed(async () => {
      await direct(naiveCount);
      const found = await direct(query(page));
      JSON.stringify(found.length);
    });
  const best = async (job, times) => {
    const runs = [];
    for (let i = 0; i < times; i += 1) runs.push((await job())[figure]);
    return median(runs);
  };

  const results = {};
  const note = async (what, page, job, times) => {
    results[what] ??= {};
    results[what][page] ??= [];
    results[what][page].push(await best(job, times));
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const page of pages) {
      await note('pyramid', page, () => ours(page), 15);
      await note('covering', page, () => naive(page, coveringPage), 1);
    }
  }
  await direct('DROP INDEX records_page');
  await direct('CREATE INDEX records_plain ON records (account, at)');
  await direct(name === 'SQLite' ? 'ANALYZE' : 'VACUUM ANALYZE');
  for (let round = 0; round < Math.min(rounds, 3); round += 1) {
    for (const page of pages) await note('plain', page, () => naive(page, naivePage), 1);
  }
  await store.close();

  const at = (what, page) => median(results[what][page]);
  console.log(
    `${figure === 'cpu' ? 'CPU' : 'clock'} ms for 100 records and the exact total   page ${pages[0]}   page ${pages[1]}`,
  );
  for (const what of Object.keys(results))
    console.log(
      `  ${what.padEnd(12)} ${pages.map((page) => at(what, page).toFixed(2).padStart(12)).join('')}`,
    );
  const least = name === 'SQLite' ? 100 : 50;
  limit(`${name}: page ${pages[1]} against page 0`, at('pyramid', pages[1]) / at('pyramid', pages[0]), {
    most: 1.5,
  });
  for (const page of pages) {
    limit(
      `${name}: page ${page}, faster than OFFSET + count(*) with a plain index`,
      at('plain', page) / at('pyramid', page),
      { least },
    );
    limit(
      `${name}: page ${page}, faster than OFFSET + count(*) with a covering index`,
      at('covering', page) / at('pyramid', page),
      { least: 15 },
    );
  }
}

try {
  const Database = storeRequire('libsql');
  const file = join(folder, 'bench.db');
  let connection;
  await measure(
    'SQLite',
    `sqlite:${file}`,
    async (sql) => {
      connection ??= new Database(file);
      const statement = connection.prepare(sql);
      return statement.reader ? statement.all([]) : statement.run([]);
    },
    'cpu',
  );
  connection?.close();

  const postgres = await postgresServer();
  if (postgres === null) process.exitCode = 1;
  else {
    const pg = storeRequire('pg');
    const url = await postgres.newUrl();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await measure('PostgreSQL', url, async (sql) => (await client.query(sql)).rows, 'wall');
    await client.end();
    await postgres.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
