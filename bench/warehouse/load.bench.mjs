// Loads calls with `syncInto` over HTTP into a warehouse and into a sink that does nothing: the difference is the work of
// the warehouse. Against DuckDB's own `read_json` of the same lines into the same typed table. All in CPU per record.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, createClient, fields } from '@call-attribution/core';
import { syncInto } from '@call-attribution/node-stream';
import { openWarehouse } from '@call-attribution/warehouse';
import { limit, timed } from '../figures.mjs';
import { writeNdjson } from './calls.mjs';

const { DuckDBInstance } = createRequire(new URL('../../packages/warehouse/package.json', import.meta.url))(
  '@duckdb/node-api',
);
const records = Number(process.env.CALLS_BENCH_RECORDS ?? 1_000_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 2);
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));
const lines = join(folder, 'calls.ndjson');
const lineBytes = writeNdjson(lines, records);
console.log(`${records} calls, ${(lineBytes / 1e6).toFixed(0)} MB of NDJSON`);

const server = fork(join(import.meta.dirname, 'server.mjs'), [lines]);
const [port] = await once(server, 'message');

/** CPU per record of a sync into a sink, in microseconds. */
async function syncCost(sink) {
  const auth = apiKeys('key', 'secret');
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, version: 'v3', auth });
  const { cpu } = await timed(async () => {
    const summary = await syncInto(client, sink, { filter: 'inc_gce:1', rows: 1000 });
    if (summary.new !== records) throw new Error(`${summary.new} calls came, not ${records}`);
  });
  await client.close();
  return (cpu / records) * 1000;
}

const nothing = { load: async () => null, commit: async () => ({ added: 0, changed: 0 }) };
const path = join(folder, 'calls.duckdb');
const remove = (file) => rmSync(file, { recursive: true, force: true });

async function warehouseCost() {
  remove(path);
  const warehouse = await openWarehouse(path);
  let cost = await syncCost(warehouse.sink('main'));
  const closing = await timed(() => warehouse.close());
  cost += (closing.cpu / records) * 1000;
  return cost;
}

/** The table of the warehouse, with the columns that lines of JSON fill. */
async function tableOf() {
  const warehouse = await openWarehouse(path, { create: false });
  const columns = [];
  const sql = `select column_name as name, data_type as type from duckdb_columns() where table_name = 'records' order by column_index`;
  for await (const row of await warehouse.query(sql)) columns.push(row);
  await warehouse.close();
  return columns;
}

async function readJsonCost(config) {
  const columns = await tableOf();
  const names = new Set(fields.map(({ name }) => name));
  const filled = columns.filter(({ name }) => names.has(name));
  const plain = join(folder, 'plain.duckdb');
  remove(plain);
  const { cpu } = await timed(async () => {
    const db = await DuckDBInstance.create(plain, config);
    const connection = await db.connect();
    await connection.run(
      `CREATE TABLE records (${columns.map(({ name, type }) => `"${name}" ${type}`).join(', ')})`,
    );
    await connection.run(
      `INSERT INTO records (${filled.map(({ name }) => `"${name}"`).join(', ')}) SELECT * FROM read_json('${lines}',
         format = 'newline_delimited', columns = {${filled.map(({ name, type }) => `'${name}': '${type}'`).join(', ')}})`,
    );
    connection.closeSync();
    db.closeSync();
  });
  return { cost: (cpu / records) * 1000, bytes: statSync(plain).size };
}

const best = {
  idle: Number.POSITIVE_INFINITY,
  sync: Number.POSITIVE_INFINITY,
  json: Number.POSITIVE_INFINITY,
  one: Number.POSITIVE_INFINITY,
};
let jsonBytes = 0;
// Ways take turns; the least of the rounds has the least of what else the machine did.
const settings = { threads: '1', storage_compatibility_version: 'latest' };
for (let round = 0; round < rounds; round += 1) {
  const costs = { idle: await syncCost(nothing), sync: await warehouseCost() };
  const json = await readJsonCost({});
  jsonBytes = json.bytes;
  Object.assign(costs, { json: json.cost, one: (await readJsonCost(settings)).cost });
  for (const [way, cost] of Object.entries(costs)) best[way] = Math.min(best[way], cost);
  const figures = Object.entries(costs).map(([way, cost]) => `${way} ${cost.toFixed(1)}`);
  console.log(`round ${round + 1}: ${figures.join(', ')}`);
}
server.disconnect();

const bytes = statSync(path).size;
const own = best.sync - best.idle;
console.log(`client alone          ${best.idle.toFixed(1)} us per record`);
console.log(`client and warehouse  ${best.sync.toFixed(1)} us per record`);
console.log(`warehouse             ${own.toFixed(1)} us per record`);
console.log(
  `read_json, as it is   ${best.json.toFixed(1)} us per record, ${(jsonBytes / records).toFixed(0)} bytes per record`,
);
console.log(`read_json, our settings ${best.one.toFixed(1)} us per record`);
console.log(
  `file                  ${(bytes / 1e6).toFixed(0)} MB, ${(bytes / records).toFixed(0)} bytes per record`,
);
limit('CPU of loading, against read_json as it is', own / best.json, { most: 1.5 });
limit('size, against NDJSON', bytes / lineBytes, { most: 0.1 });
remove(folder);
