// The questions in other ways, with the same calls counted. Each way is timed once: they take seconds to minutes. A question is
// asked in all ways before the next one, so a run that is stopped has given whole results.
import { createReadStream, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openStore } from '@call-attribution/store';
import { openWarehouse } from '@call-attribution/warehouse';
import { median, timed } from '../figures.mjs';
import { questions } from './questions.mjs';
import { askLines, questionsInJavaScript } from './questions-in-javascript.mjs';
import { questionsInSql } from './questions-in-sql.mjs';

const requireFrom = (name) => createRequire(new URL(`../../packages/${name}/package.json`, import.meta.url));
const Database = requireFrom('store')('libsql');
const { DuckDBInstance } = requireFrom('warehouse')('@duckdb/node-api');

/** The questions that are asked in other ways where there are too many calls to ask all of them; else they come first. */
const few = [
  'campaigns: calls, share, missed',
  'days of a quarter by channel: callers, p90',
  'landing pages under a condition',
];

/** Asks in all ways, all twelve questions or the few, and prints after each question what it took. */
export async function peers({ folder, lines, path, days, asksAll }) {
  const all = questions(days);
  const chosen = process.env.CALLS_BENCH_QUESTIONS?.split(';');
  const names = chosen ?? [...new Set(asksAll ? [...few, ...Object.keys(all)] : few)];
  const { from: month, to: lastDay } = all['calls of a month'];
  const end = dayAt(Date.parse(lastDay) + 86_400_000);
  const { from: quarter } = all['campaigns of a quarter: repeat callers'];
  const before = dayAt(2 * Date.parse(month) - Date.parse(end));
  const periods = { month, before, quarter, end };
  const ways = {
    warehouse: await overWarehouse(path, all),
    'row store, SQL over JSON': await overRowStore(folder, lines, periods),
    'JavaScript over NDJSON': overLines(lines, periods),
    'DuckDB over NDJSON': await overDuckDb(folder, lines, periods),
  };
  const ratios = {};
  for (const name of names) {
    console.log(`\n${name}`);
    let first;
    for (const [way, { ask }] of Object.entries(ways)) {
      const { cpu, calls } = await measured(() => ask(name));
      first ??= { cpu, calls };
      ratios[way] = [...(ratios[way] ?? []), cpu / first.cpu];
      const same = calls === first.calls ? '' : `  OTHER CALLS: ${calls}, not ${first.calls}`;
      if (same !== '') process.exitCode = 1;
      console.log(
        `  ${way.padEnd(26)} ${cpu.toFixed(0).padStart(8)} ms of CPU  ${(cpu / first.cpu).toFixed(0).padStart(6)} times${same}`,
      );
    }
  }
  for (const { close } of Object.values(ways)) await close?.();
  for (const [way, times] of Object.entries(ratios)) {
    console.log(
      `median of ${names.length} questions, ${way}: ${median(times).toFixed(0)} times the warehouse`,
    );
  }
}

const dayAt = (millis) => new Date(millis).toISOString().slice(0, 10);

/** What a question took, and how many calls are in its groups. */
async function measured(ask) {
  let calls = 0;
  const { cpu } = await timed(async () => {
    for (const n of await ask()) calls += Number(n);
  });
  return { cpu, calls };
}

async function overWarehouse(path, all) {
  const warehouse = await openWarehouse(path, { create: false });
  await warehouse.count();
  const ask = async (name) => {
    const { groupBy, measures = [], limit } = all[name];
    const answer = await warehouse.analyze({
      ...all[name],
      measures: [...new Set(['calls', ...measures])],
      limit: limit ?? 100_000,
    });
    return groupBy === undefined ? [answer.calls] : answer.rows.map((row) => row.calls);
  };
  return { ask, close: () => warehouse.close() };
}

async function* callsOf(lines) {
  for await (const line of createInterface({
    input: createReadStream(lines, { highWaterMark: 1 << 20 }),
    crlfDelay: Infinity,
  }))
    yield JSON.parse(line);
}

async function overRowStore(folder, lines, periods) {
  const file = join(folder, 'rows.db');
  const store = await openStore(`sqlite:${file}`);
  await store.putAccount({ id: '101', name: 'bench' });
  await store.load('101', callsOf(lines), { batch: 2_000 });
  await store.close();
  const db = new Database(file, { readonly: true });
  const text = (name) => `nullif(record ->> '${name}', '')`;
  const way = {
    text,
    talk: '(talk / 10.0)',
    lag: `CASE WHEN ${text('displayed_timestamp')} <= ${text('date_added')} THEN (julianday(${text('date_added')}) - julianday(${text('displayed_timestamp')})) * 1440 END`,
    later: (format) => `strftime('${format}', ${text('date_added')}, '+6 hours')`,
    // SQLite has no percentiles: it is spared them.
    quantile: () => 'NULL',
  };
  const statements = questionsInSql(way, periods)('FROM records');
  const ask = (name) =>
    db
      .prepare(statements[name])
      .all()
      .map(({ n }) => n);
  const close = () => {
    db.close();
    rmSync(file, { force: true });
  };
  return { ask, close };
}

function overLines(lines, periods) {
  return { ask: (name) => askLines(lines, questionsInJavaScript(periods)[name]) };
}

async function overDuckDb(folder, lines, periods) {
  const db = await DuckDBInstance.create(':memory:', {
    memory_limit: '4GB',
    temp_directory: join(folder, 'temporary'),
  });
  const connection = await db.connect();
  const ask = async (name) => {
    // Only the fields of the question are read.
    const fields = new Set();
    const text = (field) => {
      fields.add(field);
      return field;
    };
    const minutes = (field) => `epoch_ms(${text(field)}::TIMESTAMP) / 60000.0`;
    const way = {
      text,
      talk: 'talk_minutes',
      get lag() {
        return `CASE WHEN ${text('displayed_timestamp')} <= ${text('date_added')} THEN ${minutes('date_added')} - ${minutes('displayed_timestamp')} END`;
      },
      later: (format) => `strftime(${text('date_added')}::TIMESTAMP + INTERVAL 6 HOUR, '${format}')`,
      quantile: (value, share) => `quantile_disc(${value}, ${share})`,
    };
    const statement = questionsInSql(way, periods)('FROM lines')[name];
    const columns = [...fields]
      .filter((field) => statement.includes(field))
      .map((field) => `${field}: 'VARCHAR'`);
    const source = `read_json('${lines}', format = 'newline_delimited', columns = {${[...columns, "talk_minutes: 'DECIMAL(9,1)'"].join(', ')}})`;
    const rows = await (
      await connection.run(statement.replace('FROM lines', `FROM ${source} AS lines`))
    ).getRowObjectsJson();
    return rows.map(({ n }) => n);
  };
  const close = () => {
    connection.closeSync();
    db.closeSync();
  };
  return { ask, close };
}
