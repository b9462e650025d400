// How long the page waits for its numbers and its table, over a SQLite store and over a warehouse with the same calls, and what
// the first reading of the store costs. Each is a process of its own, asked over HTTP as the page asks.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@call-attribution/store';
import { openWarehouse } from '@call-attribution/warehouse';
import { limit, median } from '../figures.mjs';
import { calls } from '../warehouse/calls.mjs';

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
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return new Promise((done) =>
    child.stdout.once('data', (line) => done({ pid: child.pid, url: JSON.parse(String(line)).url })),
  );
}

const memory = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
function cpuSeconds(pid) {
  const [, user, system] = /(?:\S+ ){13}(\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  return (Number(user) + Number(system)) / ticks;
}

async function get(url, path, parameters) {
  const headers = { authorization: `Bearer ${token}` };
  for (;;) {
    const response = await fetch(`${url}/page/${path}?${new URLSearchParams(parameters)}`, { headers });
    const body = await response.json();
    if (response.status === 200) return body;
    if (response.status !== 202) throw new Error(JSON.stringify(body));
  }
}

async function fill() {
  const store = await openStore(`sqlite:${join(folder, 'calls.db')}`);
  await store.putAccount({ id: '101', name: 'Bench' });
  await store.putCredential('101', { kind: 'bearer', token });
  await store.load('101', calls(0, count));
  await store.close();
  const warehouse = await openWarehouse(join(folder, 'calls.duckdb'));
  await warehouse.load('101', calls(0, count));
  await warehouse.close();
}

try {
  if (process.env.CALLS_BENCH_FOLDER === undefined) await fill();
  for (const store of ['sqlite:calls.db', 'duckdb:calls.duckdb']) {
    const { pid, url } = await serve(store);
    const before = { memory: memory(pid), cpu: cpuSeconds(pid) };
    const first = await get(url, 'summary.json', { q: 'inc_gce:1' });
    console.log(
      `${store}: ${first.all} calls; first numbers after ${(cpuSeconds(pid) - before.cpu).toFixed(1)} s of CPU, ${(memory(pid) - before.memory).toFixed(0)} MiB more memory`,
    );
    const day = (back) =>
      new Date(Date.parse(first.latest.slice(0, 10)) - back * 86_400_000).toISOString().slice(0, 10);
    const last = (days) => `date_added:[${day(days - 1)} 00:00:00 TO ${day(-1)} 00:00:00}`;
    const value = (name) => first.groups[name].find((group) => group.value !== null).value;
    const questions = {
      'all time': { q: 'inc_gce:1' },
      'last 28 days': { q: last(28) },
      'last 36 days, 2 minutes or more': { q: `${last(36)},talk_minutes:[2 TO *]` },
      'one campaign, one landing page': {
        q: 'inc_gce:1',
        only: JSON.stringify({
          ppc_campaign: [value('ppc_campaign')],
          landing_page: [value('landing_page')],
        }),
      },
    };
    for (const [name, question] of Object.entries(questions)) {
      for (const [what, path] of [
        ['numbers', 'summary.json'],
        ['table', 'calls.json'],
      ]) {
        const parameters = what === 'table' ? { ...question, fields: 'sid,date_added,ani' } : question;
        const times = [];
        const cpu = cpuSeconds(pid);
        for (let round = 0; round < rounds; round += 1) {
          const began = performance.now();
          await get(url, path, parameters);
          times.push(performance.now() - began);
        }
        const used = ((cpuSeconds(pid) - cpu) / rounds) * 1000;
        limit(`${store}, ${name}: ${what}, ms (${used.toFixed(0)} ms of CPU)`, median(times), { most: 300 });
      }
    }
    children.at(-1).kill();
  }
} finally {
  for (const child of children) child.kill();
  if (process.env.CALLS_BENCH_FOLDER === undefined) rmSync(folder, { recursive: true, force: true });
}
