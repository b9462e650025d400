// How long the page waits for its numbers and its table, over a SQLite store, and what the process
// grows by. Each is a process of its own, asked over HTTP as the page asks. A store is asked each
// time for a period that nobody has asked for before, and then once more for the same.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@call-attribution/store';
import { calls } from '../calls.mjs';
import { limit, median } from '../figures.mjs';

const count = Number(process.env.CALLS_BENCH_CALLS ?? 1_000_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 7);
const folder = process.env.CALLS_BENCH_FOLDER ?? mkdtempSync(join(tmpdir(), 'calls-page-'));
const bin = new URL('../../packages/cli/dist/bin.js', import.meta.url).pathname;
const token = 'a-token-for-this-bench';
const config = join(folder, 'quiet.json');
writeFileSync(config, JSON.stringify({ service: { log: 'off' } }));
const children = [];

function serve(store) {
  const args = [bin, 'serve', '--store', store, '--port', '0', '--ready-json', '--config', config];
  const env = { PATH: process.env.PATH, HOME: folder, CALLS_BEARER_TOKEN: token };
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return new Promise((done) =>
    child.stdout.once('data', (line) =>
      done({ pid: child.pid, url: JSON.parse(String(line)).url }),
    ),
  );
}

const memory = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
function cpuSeconds(pid) {
  const [, user, system] =
    /(?:\S+ ){13}(\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  return (Number(user) + Number(system)) / ticks;
}

async function get(url, path, parameters, key) {
  const headers = { authorization: `Bearer ${key}` };
  const began = performance.now();
  const response = await fetch(`${url}/page/${path}?${new URLSearchParams(parameters)}`, {
    headers,
  });
  const body = await response.json();
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  return { body, ms: performance.now() - began };
}

/** Every tenth call: an account with 1,370 calls a day. */
function* someCalls() {
  let i = 0;
  for (const call of calls(0, count)) {
    i += 1;
    if (i % 10 === 0) yield call;
  }
}

async function fill() {
  const store = await openStore(`sqlite:${join(folder, 'calls.db')}`);
  for (const [id, list] of [
    ['101', calls(0, count)],
    ['102', someCalls()],
  ]) {
    await store.putAccount({ id, name: 'Bench' });
    await store.putCredential(id, { kind: 'bearer', token: `${token}-${id}` });
    await store.upsert(id, list);
  }

  await store.close();
}

/**
 * Days as the filter names them, counted back from the last call; another second at the end each
 * time makes it another question.
 */
let asked = 0;
function lastDays(latest, days, more = '') {
  asked += 1;
  const day = (back) =>
    new Date(Date.parse(latest.slice(0, 10)) - back * 86_400_000).toISOString().slice(0, 10);
  const end = `${day(-1)} 00:${String(Math.floor(asked / 60) % 60).padStart(2, '0')}:${String(asked % 60).padStart(2, '0')}`;
  return `date_added:[${day(days - 1)} 00:00:00 TO ${end}}${more}`;
}

/**
 * Asks some questions, with limits of milliseconds for new numbers, for the same again, and for the
 * table.
 */
async function measure({ name, url, pid, key }, questions) {
  for (const [what, { ask, most }] of Object.entries(questions)) {
    const fresh = [];
    const again = [];
    const table = [];
    const cpu = cpuSeconds(pid);
    for (let round = 0; round < rounds; round += 1) {
      const parameters = ask();
      fresh.push((await get(url, 'summary.json', parameters, key)).ms);
      again.push((await get(url, 'summary.json', parameters, key)).ms);
      table.push(
        (await get(url, 'calls.json', { ...parameters, fields: 'sid,date_added,ani' }, key)).ms,
      );
    }
    const used = (((cpuSeconds(pid) - cpu) / rounds) * 1000).toFixed(0);
    limit(`${name}, ${what}: numbers, ms (${used} ms of CPU for all three)`, median(fresh), {
      most: most[0],
    });
    limit(`${name}, ${what}: the same again, ms`, median(again), { most: most[1] });
    limit(`${name}, ${what}: table, ms`, median(table), { most: most[2] });
  }
}

/** The questions of an account whose last call is known. */
function questionsOf(latest, groups, most, mostOfAll) {
  const value = (name) => groups[name].find((group) => group.value !== null).value;
  const only = JSON.stringify({
    ppc_campaign: [value('ppc_campaign')],
    landing_page: [value('landing_page')],
  });
  return {
    'last 28 days, compared': { ask: () => ({ q: lastDays(latest, 28) }), most },
    'one campaign, one landing page of 28 days': {
      ask: () => ({ q: lastDays(latest, 28), only }),
      most,
    },
    'all time': { ask: () => ({ q: lastDays(latest, 3_000, ',inc_gce:1') }), most: mostOfAll },
  };
}

try {
  if (process.env.CALLS_BENCH_FOLDER === undefined) await fill();
  const cases = [
    // 28 days of this account are 380,000 calls, and the 28 days before as many.
    {
      store: 'sqlite:calls.db',
      account: '101',
      most: [2_500, 50, 100],
      mostOfAll: [2_500, 50, 100],
    },
    { store: 'sqlite:calls.db', account: '102', most: [150, 50, 100], mostOfAll: [500, 50, 100] },
  ];
  for (const { store, account, most, mostOfAll } of cases) {
    const { pid, url } = await serve(store);
    const key = `${token}-${account}`;
    const { body } = await get(url, 'summary.json', { q: 'inc_gce:1' }, key);
    const before = memory(pid);
    const name = `${store}, account ${account} of ${body.total.calls} calls`;
    await measure({ name, url, pid, key }, questionsOf(body.latest, body.groups, most, mostOfAll));
    console.log(
      `${name}: ${memory(pid).toFixed(0)} MiB, ${(memory(pid) - before).toFixed(0)} more than after the first numbers`,
    );
    children.at(-1).kill();
  }
} finally {
  for (const child of children) child.kill();
  if (process.env.CALLS_BENCH_FOLDER === undefined)
    rmSync(folder, { recursive: true, force: true });
}
