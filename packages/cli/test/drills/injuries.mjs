// Injures files and stores at random and asks `calls verify` about them. It knows only the program,
// HTTP and files: it imports nothing of the packages. Prints what was found as one line of JSON.
//
//   node injuries.mjs <path of the program> <how many injuries> <seed>
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { DatabaseSync as Database } from '@call-attribution/sqlite';

const [bin = '', wanted = '300', seed = '1'] = process.argv.slice(2);
const total = Number(wanted);
const work = mkdtempSync(join(tmpdir(), 'injuries-'));

let state = Number(seed) >>> 0;
/** A number below `end`, the same for the same seed (mulberry32). @param {number} end */
function dice(end) {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * end);
}
/** @template T @param {readonly T[]} list @returns {T} */
const one = (list) => /** @type {T} */ (list[dice(list.length)]);

/**
 * Runs the program.
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @param {string} input
 */
function calls(args, env = {}, input = '') {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: work,
      env: { PATH: process.env.PATH ?? '', HOME: work, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.end(input);
    const out = { stdout: '', stderr: '' };
    for (const name of /** @type {const} */ (['stdout', 'stderr']))
      child[name].setEncoding('utf8').on('data', (text) => {
        out[name] += text;
      });

    child.on('error', reject).on('close', (code) => resolve({ code, ...out }));
  });
}

/** Starts a server of the API. Resolves with what a client needs. */
function serve() {
  const child = spawn(
    process.execPath,
    [
      bin,
      'serve',
      '--port',
      '0',
      '--records',
      '150',
      '--to',
      '2026-11-20 00:00:00',
      '--ready-json',
    ],
    {
      cwd: work,
      env: { PATH: process.env.PATH ?? '', HOME: work },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  return new Promise((resolve, reject) => {
    let text = '';
    child.on('close', (code) => reject(new Error(`calls serve ended with ${code}`)));
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      if (!text.includes('\n')) return;
      const { url, accounts } = JSON.parse(text);
      const [{ accessKey, secretKey }] = accounts;
      const env = { CALLS_BASE_URL: url, CALLS_ACCESS_KEY: accessKey, CALLS_SECRET_KEY: secretKey };
      resolve({ child, env });
    });
  });
}

// What is injured: two originals of each kind, of different calls, so that rows and files can be
// taken for each other.
const formats = ['ndjson', 'csv', 'ndjson.gz', 'csv.gz', 'json', 'parquet', 'db', 'erased.db'];
const shares = {
  ndjson: 0.25,
  csv: 0.26,
  'ndjson.gz': 0.14,
  'csv.gz': 0.1,
  json: 0.05,
  parquet: 0.04,
  db: 0.1,
  // A store from which callers were erased and calls purged.
  'erased.db': 0.06,
};
/** How many folders of months are injured, of so many injuries. */
const foldersOf = 0.05;
/** A few hundred injuries are of the kinds that are made quickly. */
const used = total < 1000 ? ['csv', 'ndjson.gz', 'db', 'erased.db'] : formats;
const periods = [
  ['--to', '2026-11-09'],
  ['--from', '2026-11-10'],
];
/** @param {string} format @param {number} which */
const original = (format, which) => join(work, `original-${which}.${format}`);

/** @param {Record<string, string>} env */
async function makeOriginals(env) {
  const wanted = periods.flatMap((period, which) =>
    used.map((format) => ({ period, which, format })),
  );
  // Two at a time.
  await Promise.all(
    [0, 1].map(async () => {
      for (let next = wanted.pop(); next !== undefined; next = wanted.pop())
        await makeOriginal(env, next);
    }),
  );
}

/**
 * @param {Record<string, string>} env
 * @param {{ period: string[], which: number, format: string }} what
 */
async function makeOriginal(env, { period, which, format }) {
  const path = original(format, which);
  const written = ['export', '-o', path, '--receipt'];
  const store = ['--store', `sqlite:${path}`];
  const isStore = format.endsWith('db');
  const exported = [...written, '--include-extensions', ...period];
  await done(isStore ? ['sync', ...store, ...period] : exported, env);
  if (!isStore) return;
  const database = new Database(path);
  if (format === 'erased.db') {
    const [first, second] = rowsIn(database);
    const of = [...store, '--account', String(first?.account)];
    await done(['store', 'erase', ...of], {}, `${first?.ani}\n${second?.ani}\n`);
    const times = rowsIn(database).map(({ date_added }) => String(date_added));
    const before = times.sort()[Math.floor(times.length / 3)] ?? '';
    await done(['store', 'purge', ...of, '--before', before, '--yes']);
  }

  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

/**
 * Runs the program, which has to succeed.
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 * @param {string} [input]
 */
async function done(args, env, input) {
  const { code, stdout, stderr } = await calls(args, env, input);
  if (code !== 0) throw new Error(`calls ${args.join(' ')}: ${code} ${stdout} ${stderr}`);
}

/** @typedef {(rows: string[], others: string[]) => string[]} OnRows */
/** Changes one value of a row, wherever it is. @param {string} row */
function fieldChanged(row) {
  const places = [...row.matchAll(/[0-9a-zA-Z]/g)].map(({ index }) => index);
  const at = one(places);
  const old = row[at];
  const letter = old === 'x' ? 'y' : 'x';
  const next = /\d/.test(old ?? '') ? String((Number(old) + 1 + dice(9)) % 10) : letter;
  return row.slice(0, at) + next + row.slice(at + 1);
}

/** @type {Record<string, OnRows>} */
const onRows = {
  'row dropped': (rows) => rows.toSpliced(dice(rows.length), 1),
  'row doubled': (rows) => rows.toSpliced(dice(rows.length), 0, one(rows)),
  'field changed': (rows) => {
    const at = dice(rows.length);
    return rows.with(at, fieldChanged(rows[at] ?? ''));
  },
  'row of another file': (rows, others) => rows.with(dice(rows.length), one(others)),
};

/** Text as its first line, its rows and its end. @param {string} text @param {string} format */
function cut(text, format) {
  let head = '';
  let between = '\n';
  let end = '\n';
  if (format.startsWith('csv')) {
    head = text.slice(0, text.indexOf('\r\n') + 2);
    between = '\r\n';
    end = '\r\n';
  } else if (format === 'json') {
    head = '[\n';
    between = ',\n';
    end = '\n]\n';
  }

  return { head, end, between, rows: text.slice(head.length, -end.length).split(between) };
}

/** @param {string} path @param {string} format @param {string} kind @param {number} which */
function injureRows(path, format, kind, which) {
  const read = (/** @type {string} */ from) => {
    const bytes = readFileSync(from);
    return (format.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  };

  const { head, end, between, rows } = cut(read(path), format);
  const others = cut(read(original(format, 1 - which)), format).rows;
  const text = head + /** @type {OnRows} */ (onRows[kind])(rows, others).join(between) + end;
  writeFileSync(path, format.endsWith('.gz') ? gzipSync(text) : text);
}

/** @type {Record<string, (path: string, format: string, which: number) => void>} */
const onBytes = {
  'byte flipped': (path) => {
    const bytes = readFileSync(path);
    const at = dice(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << dice(8));
    writeFileSync(path, bytes);
  },
  truncated: (path) => {
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, dice(bytes.length)));
  },
  'another file': (path, format, which) => copyFileSync(original(format, 1 - which), path),
  'receipt of another file': (path, format, which) =>
    copyFileSync(`${original(format, 1 - which)}.receipt.json`, `${path}.receipt.json`),
};

/** @param {any} database @returns {Row[]} */
const rowsIn = (database) =>
  database.prepare('SELECT * FROM records WHERE odd IS NULL ORDER BY sid').all();

/** A row of the table of calls. @typedef {{ sid: string } & Record<string, unknown>} Row */

/** @type {Record<string, (path: string, which: number) => void>} */
const onSqlite = {
  'row dropped': (path) =>
    inSqlite(path, (database, row) =>
      database.prepare('DELETE FROM records WHERE sid = ?').run(row.sid),
    ),
  'row doubled': (path) =>
    inSqlite(path, (database, row) => {
      const columns = database.prepare("SELECT name FROM pragma_table_info('records')").all();
      const cells = columns.map((/** @type {{ name: string }} */ { name }) =>
        name === 'sid' ? '?' : `"${name}"`,
      );
      database
        .prepare(`INSERT INTO records SELECT ${cells.join(', ')} FROM records WHERE sid = ?`)
        .run(`${row.sid}0`, row.sid);
    }),
  'field changed': (path) =>
    inSqlite(path, (database, row) =>
      database
        .prepare("UPDATE records SET city = coalesce(city, '') || 'x' WHERE sid = ?")
        .run(row.sid),
    ),
  'row of another file': (path, which) => {
    /** @type {Row[]} */
    let others = [];
    const another = new Database(original('db', 1 - which));
    others = rowsIn(another);
    another.close();
    const other = one(others);
    const names = Object.keys(other).filter((name) => name !== 'sid');
    inSqlite(path, (database, row) =>
      database
        .prepare(
          `UPDATE records SET ${names.map((name) => `"${name}" = ?`).join(', ')} WHERE sid = ?`,
        )
        .run(...names.map((name) => other[name]), row.sid),
    );
  },
  'byte flipped': (path) => {
    /** @type {string} */
    let sid = '';
    inSqlite(path, (_, row) => {
      sid = row.sid;
    });
    const bytes = readFileSync(path);
    const start = Buffer.from(sid);
    const at = dice(start.length);

    // SQLite may have left a copy of the row in the free space of a page.
    for (let from = bytes.indexOf(start); from >= 0; from = bytes.indexOf(start, from + 1))
      bytes[from + at] = (bytes[from + at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  },
  truncated: (path) => {
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, dice(Math.floor(bytes.length * 0.9))));
  },
};

/** @param {string} path @param {(database: any, row: Row) => unknown} change */
function inSqlite(path, change) {
  const database = new Database(path);
  try {
    change(database, one(rowsIn(database)));
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
}

/**
 * Injures a copy. Returns what was done to it.
 * @param {string} path
 * @param {string} format
 * @param {number} which
 */
function injure(path, format, which) {
  if (format.endsWith('db')) {
    // Without the API, a store is counted.
    const kinds = format === 'db' ? Object.keys(onSqlite) : ['row dropped', 'row doubled'];
    const kind = one(kinds);
    onSqlite[kind]?.(path, which);
    return kind;
  }

  const kind = one([...(format === 'parquet' ? [] : Object.keys(onRows)), ...Object.keys(onBytes)]);
  if (kind in onRows) injureRows(path, format, kind, which);
  else onBytes[kind]?.(path, format, which);
  return kind;
}

/** @param {string} format @param {string} path @param {number} which */
function copy(format, path, which) {
  copyFileSync(original(format, which), path);
  if (!format.endsWith('db'))
    copyFileSync(`${original(format, which)}.receipt.json`, `${path}.receipt.json`);
}

/** All that is looked at: the file and its receipt, if it has one. @param {string} path */
const bytesOf = (path) =>
  Buffer.concat(
    [path, `${path}.receipt.json`].filter(existsSync).map((name) => readFileSync(name)),
  );

const result = {
  runs: 0,
  whole: 0,
  missed: /** @type {string[]} */ ([]),
  invented: /** @type {string[]} */ ([]),
  kinds: /** @type {Record<string, number>} */ ({}),
};

/**
 * A folder of injured files, and of some that nothing was done to. A store has no receipt, so those
 * are compared with the API.
 * @param {{ format: string, isWhole: boolean }[]} plan @param {Record<string, string>} [env]
 */
async function examine(plan, env) {
  const folder = join(work, 'folder');
  mkdirSync(folder);

  /** @type {Map<string, { kind: string | null, name: string }>} */
  const made = new Map();
  for (const [at, { format, isWhole }] of plan.entries()) {
    const which = dice(2);
    const name = `${at}.${format}`;
    const path = join(folder, name);
    copy(format, path, which);
    const before = bytesOf(path);
    let kind = isWhole ? null : injure(path, format, which);
    // What changed nothing is no injury.
    if (before.equals(bytesOf(path))) kind = null;
    made.set(`folder/${name}`, { kind, name: `${kind} in ${format}` });
  }

  const against = env === undefined ? [] : ['--against-api'];
  const { code, stdout, stderr } = await calls(['verify', 'folder', '--json', ...against], env);
  if (stdout === '') throw new Error(`calls verify: ${code} ${stderr}`);
  const { checks } = JSON.parse(stdout);
  const verdicts = new Map(checks.map((/** @type {any} */ check) => [check.path, check.verdict]));
  for (const [path, { kind, name }] of made) {
    const verdict = verdicts.get(path);
    if (kind === null) {
      result.whole += 1;
      if (verdict !== 'proved') result.invented.push(`${path}: ${verdict}`);
      continue;
    }
    result.runs += 1;
    result.kinds[name] = (result.kinds[name] ?? 0) + 1;
    if (verdict !== 'differs') result.missed.push(`${name}: ${verdict} (${path})`);
  }

  const mustFail = [...made.values()].some(({ kind }) => kind !== null);
  if (code !== (mustFail ? 3 : 0)) result.missed.push(`a folder: exit status ${code}`);
  rmSync(folder, { recursive: true });
  process.stderr.write(`${result.runs} of ${total}\n`);
}

/**
 * What is done to the months of an account, each with its receipt.
 * @type {Record<string, (folder: string, months: string[]) => void>}
 */
const onMonths = {
  'month removed': (folder, months) => {
    const path = join(folder, one(months));
    for (const ending of endings) rmSync(`${path}${ending}`);
  },
  'month renamed': (folder, months) => {
    const path = join(folder, one(months));
    for (const ending of endings)
      renameSync(`${path}${ending}`, `${join(folder, otherMonth(months))}${ending}`);
  },
  'month copied': (folder, months) => {
    const path = join(folder, one(months));
    for (const ending of endings)
      copyFileSync(`${path}${ending}`, `${join(folder, otherMonth(months))}${ending}`);
  },
  'months exchanged': (folder, months) => {
    const at = dice(months.length);
    const first = join(folder, months[at] ?? '');
    const second = join(folder, months[(at + 1) % months.length] ?? '');
    for (const ending of endings) {
      renameSync(`${first}${ending}`, `${first}.kept`);
      renameSync(`${second}${ending}`, `${first}${ending}`);
      renameSync(`${first}.kept`, `${second}${ending}`);
    }
  },
  'folder of another account': (folder) => renameSync(folder, `${folder}9`),
};
const endings = ['', '.receipt.json'];

/** The name of a month that is not there. @param {string[]} months @returns {string} */
function otherMonth(months) {
  const year = 2027 + dice(20);
  const name = `month=${year}-${String(1 + dice(12)).padStart(2, '0')}.parquet`;
  return months.includes(name) ? otherMonth(months) : name;
}

/** Injures the months of an export, or leaves them as they are. @param {string | null} kind */
async function examineMonths(kind) {
  const folder = join(work, 'months');
  cpSync(join(work, 'original-months'), folder, { recursive: true });
  const [account = ''] = readdirSync(folder);
  const months = readdirSync(join(folder, account)).filter((name) => name.endsWith('.parquet'));
  if (kind !== null) onMonths[kind]?.(join(folder, account), months);
  const { code, stdout, stderr } = await calls(['verify', 'months', '--json']);
  if (stdout === '') throw new Error(`calls verify months: ${code} ${stderr}`);
  const { verdict } = JSON.parse(stdout);
  rmSync(folder, { recursive: true });
  if (kind === null) {
    result.whole += 1;
    if (verdict !== 'proved' || code !== 0) result.invented.push(`months: ${verdict} ${code}`);
    return;
  }

  result.runs += 1;
  result.kinds[`${kind} in months`] = (result.kinds[`${kind} in months`] ?? 0) + 1;
  if (verdict !== 'differs' || code !== 3) result.missed.push(`${kind}: ${verdict} ${code}`);
}

const { child, env } = await serve();
try {
  await makeOriginals(env);
  const wantedOf = Object.entries(shares)
    .filter(([format]) => used.includes(format))
    .flatMap(([format, share]) =>
      Array.from({ length: Math.round(total * share) }, () => ({ format, isWhole: false })),
    );
  const wholes = wantedOf
    .filter((_, at) => at % 10 === 0)
    .map(({ format }) => ({ format, isWhole: true }));
  const plan = [...wantedOf, ...wholes]
    .map((each) => ({ each, at: dice(1e9) }))
    .sort((a, b) => a.at - b.at);
  const chosen = plan.map(({ each }) => each);
  const stores = chosen.filter(({ format }) => format === 'db');
  const files = chosen.filter(({ format }) => format !== 'db');
  await done(['export', '-o', 'original-months', '--partition', 'month'], env);
  await examineMonths(null);
  for (let folder = 0; folder < total * foldersOf; folder += 1)
    await examineMonths(one(Object.keys(onMonths)));
  for (let from = 0; from < files.length; from += 250) await examine(files.slice(from, from + 250));
  for (let from = 0; from < stores.length; from += 250)
    await examine(stores.slice(from, from + 250), env);
  // What changed nothing by chance is made up for.
  while (result.runs < total)
    await examine(
      Array.from({ length: total - result.runs }, () => ({ format: 'csv', isWhole: false })),
    );
} finally {
  child.removeAllListeners('close');
  child.kill();
  rmSync(work, { recursive: true, force: true });
}
process.stdout.write(`${JSON.stringify(result)}\n`);
