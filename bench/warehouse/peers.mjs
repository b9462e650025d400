// Three questions in other ways, with the same answers. Each way is timed once: they take seconds to minutes.
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { readLines } from '@call-attribution/node-stream';
import { openStore } from '@call-attribution/store';
import { openWarehouse } from '@call-attribution/warehouse';
import { timed } from '../figures.mjs';
import { calls } from './calls.mjs';
import { questions } from './questions.mjs';

const requireFrom = (name) => createRequire(new URL(`../../packages/${name}/package.json`, import.meta.url));
const Database = requireFrom('store')('libsql');
const { DuckDBInstance } = requireFrom('warehouse')('@duckdb/node-api');

const chosen = [
  'campaigns: calls, share, missed',
  'days of a quarter by channel: callers, p90',
  'landing pages under a condition',
];

/** The number of groups and of calls, by which the ways are compared. */
const sums = (groups) => [groups.length, groups.reduce((sum, count) => sum + count, 0)];

export async function peers({ folder, lines, path, size, days }) {
  const all = questions(days);
  const { from, to } = all[chosen[1]];
  const ways = {
    warehouse: await overWarehouse(
      path,
      chosen.map((name) => all[name]),
    ),
    'row store, SQL over JSON': await overRowStore(folder, size, from, to),
    'JavaScript over NDJSON': await overLines(lines, from, to),
    'DuckDB over NDJSON': await overDuckDb(lines, from, to),
  };
  for (const [i, name] of chosen.entries()) {
    console.log(`\n${name}`);
    const first = ways.warehouse[i];
    for (const [way, results] of Object.entries(ways)) {
      const { cpu, answer } = results[i];
      const same = answer[1] === first.answer[1] ? '' : `  OTHER ANSWER ${answer} ${first.answer}`;
      console.log(
        `  ${way.padEnd(26)} ${cpu.toFixed(0).padStart(8)} ms of CPU  ${(cpu / first.cpu).toFixed(0).padStart(6)} times${same}`,
      );
    }
  }
}

async function measured(jobs) {
  const results = [];
  for (const job of jobs) {
    let answer;
    const { cpu } = await timed(async () => {
      answer = await job();
    });
    results.push({ cpu, answer });
  }
  return results;
}

async function overWarehouse(path, wanted) {
  const warehouse = await openWarehouse(path, { create: false });
  await warehouse.count();
  const results = await measured(
    wanted.map((question) => async () => {
      const { rows } = await warehouse.analyze({
        ...question,
        measures: [...new Set(['calls', ...question.measures])],
        limit: 100_000,
      });
      return sums(rows.map((row) => row.calls));
    }),
  );
  await warehouse.close();
  return results;
}

async function overRowStore(folder, size, from, to) {
  const file = join(folder, 'rows.db');
  const store = await openStore(`sqlite:${file}`);
  await store.putAccount({ id: '101', name: 'bench' });
  await store.load('101', calls(0, size), { batch: 2_000 });
  await store.close();
  const db = new Database(file, { readonly: true });
  // A row holds the values of its record as they are between quotes in JSON, with a character between them.
  const names = JSON.parse(db.prepare('SELECT names FROM layouts').get().names);
  const empty = `replace(packed, char(31) || '""' || char(31), char(31) || char(31))`;
  // The few values that begin with an equals sign are in quotes, and must not be here.
  const bare = `replace(replace(replace(packed, '\\"', char(30)), '"', ''), char(30), '\\"')`;
  const plain = `CASE WHEN instr(packed, char(31) || '"=') THEN ${bare} ELSE ${empty.replace('packed', empty)} END`;
  const json = `'["' || replace((${plain}), char(31), '","') || '"]'`;
  const field = (name) => `nullif(json_extract(${json}, '$[${names.indexOf(name)}]'), '')`;
  const all = (sql) => async () =>
    sums(
      db
        .prepare(sql)
        .all()
        .map((row) => row.n),
    );
  const results = await measured([
    all(`SELECT ${field('ppc_campaign')} AS k, count(*) AS n, sum(talk = 0) AS missed FROM calls GROUP BY 1`),
    // SQLite has no percentiles: without the one in the question.
    all(`SELECT substr(${field('date_added')}, 1, 10) AS k, ${field('channel')} AS c, count(*) AS n, count(DISTINCT ${field('ani')}) AS callers
           FROM calls WHERE ${field('date_added')} >= '${from}' AND ${field('date_added')} < '${to}' GROUP BY 1, 2`),
    all(`SELECT ${field('landing_page')} AS k, count(*) AS n, avg(talk) AS mean FROM calls WHERE talk >= 20 AND ${field('ppc_gclid')} IS NOT NULL
           AND ${field('state')} IN ('TX', 'CA') AND ${field('landing_page')} LIKE '/e%' GROUP BY 1`),
  ]);
  db.close();
  return results;
}

async function overLines(lines, from, to) {
  const grouped = (key, add, filter) => async () => {
    const groups = new Map();
    for await (const line of readLines(createReadStream(lines, { highWaterMark: 1 << 20 }))) {
      const call = JSON.parse(line);
      if (!filter(call)) continue;
      const name = key(call);
      let group = groups.get(name);
      if (group === undefined) {
        group = { n: 0, missed: 0, callers: new Set(), talk: [], sum: 0 };
        groups.set(name, group);
      }
      group.n += 1;
      add(group, call);
    }
    for (const group of groups.values()) group.talk.sort((a, b) => a - b);
    return sums([...groups.values()].map(({ n }) => n));
  };
  return measured([
    grouped(
      (call) => call.ppc_campaign,
      (group, call) => {
        group.missed += Number(call.talk_minutes) === 0 ? 1 : 0;
      },
      () => true,
    ),
    grouped(
      (call) => `${call.date_added.slice(0, 10)} ${call.channel}`,
      (group, call) => {
        group.callers.add(call.ani);
        group.talk.push(Number(call.talk_minutes));
      },
      (call) => call.date_added >= from && call.date_added < to,
    ),
    grouped(
      (call) => call.landing_page,
      (group, call) => {
        group.sum += Number(call.talk_minutes);
      },
      (call) =>
        Number(call.talk_minutes) >= 2 &&
        call.ppc_gclid !== null &&
        (call.state === 'TX' || call.state === 'CA') &&
        call.landing_page?.startsWith('/e') === true,
    ),
  ]);
}

async function overDuckDb(lines, from, to) {
  const db = await DuckDBInstance.create(':memory:', { memory_limit: '700MB' });
  const connection = await db.connect();
  const source = (columns) => `read_json('${lines}', format = 'newline_delimited', columns = ${columns})`;
  const all = (sql) => async () => {
    const rows = await (await connection.run(sql)).getRowObjectsJson();
    return sums(rows.map((row) => Number(row.n)));
  };
  const talk = "talk_minutes: 'DECIMAL(9,1)'";
  const results = await measured([
    all(`SELECT ppc_campaign, count(*) AS n, count(*) FILTER (WHERE talk_minutes = 0) AS missed
           FROM ${source(`{ppc_campaign: 'VARCHAR', ${talk}}`)} GROUP BY ALL`),
    all(`SELECT date_added::DATE AS day, channel, count(*) AS n, count(DISTINCT ani) AS callers, quantile_disc(talk_minutes, 0.9) AS p90
           FROM ${source(`{date_added: 'TIMESTAMP', channel: 'VARCHAR', ani: 'VARCHAR', ${talk}}`)}
          WHERE date_added >= '${from}' AND date_added < '${to}' GROUP BY ALL`),
    all(`SELECT landing_page, count(*) AS n, avg(talk_minutes) AS mean
           FROM ${source(`{landing_page: 'VARCHAR', ppc_gclid: 'VARCHAR', state: 'VARCHAR', ${talk}}`)}
          WHERE talk_minutes >= 2 AND ppc_gclid IS NOT NULL AND state IN ('TX', 'CA') AND landing_page LIKE '/e%' GROUP BY ALL`),
  ]);
  connection.closeSync();
  db.closeSync();
  return results;
}
