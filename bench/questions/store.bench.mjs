// The twelve questions over calls in a SQLite store, with SQLite's own SQL over the same table and
// DuckDB over a table of its own as peers. Figures are CPU of this process, medians of the rounds;
// the ways take turns. `CALLS_BENCH_SIZES` says how many calls, in thousands.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@call-attribution/sqlite';
import { openStore } from '@call-attribution/store';
import { DuckDBInstance } from '@duckdb/node-api';
import { calls, mostCalls, writeNdjson } from '../calls.mjs';
import { limit, median, timed } from '../figures.mjs';
import { askStore } from './ask.mjs';
import { others, questions } from './questions.mjs';
import { questionsInSql } from './questions-in-sql.mjs';

const sizes = (process.env.CALLS_BENCH_SIZES ?? '100,1000')
  .split(',')
  .map((thousands) => Number(thousands) * 1000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 3);
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));
const ask = new URL('./ask.mjs', import.meta.url).pathname;
/** On callers, these read all calls of the account, whatever the period. */
const onCallers = {
  'a month: first-time callers': { measures: ['first_time_callers'] },
  'a month: callers that were reached within 24 hours': { measures: ['reached_within(24)'] },
};

async function overDuckDb(lines) {
  const db = await DuckDBInstance.create(join(folder, 'calls.duckdb'));
  const connection = await db.connect();
  await connection.run(
    `CREATE TABLE records AS SELECT * REPLACE (date_added::TIMESTAMP AS date_added, talk_minutes::DECIMAL(9,1) AS talk_minutes)
     FROM read_json('${lines}', format = 'newline_delimited', convert_strings_to_integers = false, sample_size = -1)`,
  );
  return {
    ask: async (sql) =>
      (await (await connection.runAndReadAll(sql)).getRowObjectsJson()).map(({ n }) => n),
    close: () => connection.closeSync(),
  };
}

for (const size of sizes) {
  const days = Math.floor((730 * size) / mostCalls);
  const all = questions(days);
  const file = join(folder, `${size}.db`);
  const store = await openStore(`sqlite:${file}`);
  await store.putAccount({ id: '101', name: 'bench' });
  const loading = await timed(() => store.upsert('101', calls(0, size)));
  console.log(
    `\n${size} calls in ${days} days, ${(statSync(file).size / size).toFixed(0)} bytes each, ${((loading.cpu * 1000) / size).toFixed(0)} µs of CPU to make and load one`,
  );
  const lines = join(folder, 'calls.ndjson');
  writeNdjson(lines, size);
  const sqlite = new DatabaseSync(file, { readOnly: true });
  const duckdb = await overDuckDb(lines);

  const { from: month, to: lastDay } = all['calls of a month'];
  const end = new Date(Date.parse(lastDay) + 86_400_000).toISOString().slice(0, 10);
  const before = new Date(2 * Date.parse(month) - Date.parse(end)).toISOString().slice(0, 10);
  const periods = {
    month,
    before,
    quarter: all['campaigns of a quarter: repeat callers'].from,
    end,
  };
  const inSqlite = questionsInSql(
    {
      text: (name) => name,
      talk: '(talk_minutes / 10.0)',
      lag: 'CASE WHEN displayed_timestamp <= date_added THEN (julianday(date_added) - julianday(displayed_timestamp)) * 1440 END',
      later: (format) => `strftime('${format}', date_added, '+6 hours')`,
      // SQLite has no percentiles: it is spared them.
      quantile: () => 'NULL',
    },
    periods,
  )('FROM records');
  const text = (name) =>
    name === 'date_added' ? "strftime(date_added, '%Y-%m-%d %H:%M:%S')" : name;
  const inDuckDb = questionsInSql(
    {
      text,
      talk: 'talk_minutes',
      lag: 'CASE WHEN displayed_timestamp::TIMESTAMP <= date_added THEN epoch_ms(date_added) / 60000.0 - epoch_ms(displayed_timestamp::TIMESTAMP) / 60000.0 END',
      later: (format) => `strftime(date_added + INTERVAL 6 HOUR, '${format}')`,
      quantile: (value, share) => `quantile_disc(${value}, ${share})`,
    },
    periods,
  )('FROM records');

  const ofMonth = Object.entries(onCallers).map(([name, question]) => [
    name,
    { ...question, from: month, to: lastDay },
  ]);
  const rest = { ...others, ...Object.fromEntries(ofMonth) };
  const asked = [...Object.values(all), ...Object.values(rest)];
  const used = {};
  const note = (name, way, { cpu }) => {
    used[name] ??= {};
    used[name][way] = [...(used[name][way] ?? []), cpu];
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, question] of Object.entries(all)) {
      const measures = [...new Set(['calls', ...(question.measures ?? [])])];
      const counts = {};
      const whole = { ...question, measures, limit: question.limit ?? 100_000 };
      note(
        name,
        'store',
        await timed(async () => {
          counts.store = await askStore(store, whole);
        }),
      );
      note(
        name,
        'sqlite',
        await timed(async () => {
          counts.sqlite = sqlite
            .prepare(inSqlite[name])
            .all()
            .map(({ n }) => n);
        }),
      );
      note(
        name,
        'duckdb',
        await timed(async () => {
          counts.duckdb = await duckdb.ask(inDuckDb[name]);
        }),
      );
      const sums = Object.values(counts).map((list) => list.reduce((sum, n) => sum + Number(n), 0));
      if (new Set(sums).size > 1) throw new Error(`${name}: other calls, ${sums.join(', ')}`);
    }
    for (const [name, question] of Object.entries(rest)) {
      note(name, 'store', await timed(() => askStore(store, question)));
    }
  }
  console.log(`${'ms of CPU'.padEnd(52)} store  SQLite's SQL  DuckDB`);
  for (const [name, ways] of Object.entries(used)) {
    const shown = ['store', 'sqlite', 'duckdb'].map((way) =>
      (ways[way] ? median(ways[way]).toFixed(0) : '–').padStart(9),
    );
    console.log(`${name.padEnd(50)}${shown.join('')}`);
  }
  const took = (name) => median(used[name].store) / 1000;
  const slowest = Math.max(...Object.keys(all).map(took));
  limit(`slowest of the twelve over ${size} calls: s of CPU`, slowest, {
    most: size > 100_000 ? 2.5 : 0.2,
  });
  limit(`a month of ${size} calls: s of CPU`, took('calls of a month'), { most: 0.2 });
  const grown = asked.map((question) =>
    Number(execFileSync(process.execPath, [ask, `sqlite:${file}`, JSON.stringify(question)])),
  );
  limit(`memory over ${size} calls: MB that the hungriest question takes`, Math.max(...grown), {
    most: 150,
  });
  sqlite.close();
  duckdb.close();
  await store.close();
  for (const name of ['calls.ndjson', 'calls.duckdb', `${size}.db`])
    rmSync(join(folder, name), { force: true });
}
rmSync(folder, { recursive: true, force: true });
