// What rows cost. SQLite: a million calls with random sids are loaded, counted, paged and read by
// columns, in CPU time of this process. PostgreSQL: loading against psql's \copy of the same rows
// into a table with the same indexes, in CPU time of all processes, in turns. Nothing that is judged
// is on the clock: the machine may have other work.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from '@call-attribution/query-dsl';
import { generate } from '@call-attribution/sandbox';
import { openStore, selectionOf } from '@call-attribution/store';
import { limit, median, timed } from '../figures.mjs';
import { cpuOf, cpuOfServer, postgresServer } from './postgres-server.mjs';

const records = Number(process.env.CALLS_BENCH_RECORDS ?? 1_000_000);
const copied = Math.min(records, 100_000);
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 3);
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));
const atOnce = 20_000;

/**
 * Generated calls in the order of their times, with sids that say nothing about it, as they come
 * out of a parser of JSON.
 */
function* batches(count) {
  let some = [];
  for (const call of generate({ records: count, seed: 5, days: 730 })) {
    some.push({ ...call, sid: createHash('md5').update(call.sid).digest('hex') });
    if (some.length < atOnce) continue;
    yield JSON.parse(JSON.stringify(some));
    some = [];
  }

  if (some.length > 0) yield JSON.parse(JSON.stringify(some));
}

async function load(store, count) {
  const sum = { cpu: 0, wall: 0 };
  await store.putAccount({ id: '101', name: 'bench' });
  for (const calls of batches(count)) {
    const { cpu, wall } = await timed(() => store.upsert('101', calls));
    sum.cpu += cpu;
    sum.wall += wall;
  }

  return sum;
}

/** Milliseconds of CPU of the programs that this one has started and that have ended. */
const cpuOfChildren = () => cpuOf('self', { isOfChildren: true });

const figure = (what, value, unit) =>
  console.log(`${value.toFixed(2).padStart(9)} ${unit}  ${what}`);

async function sqlite() {
  const file = join(folder, 'calls.db');
  const url = `sqlite:${file}`;
  const store = await openStore(url);
  const { cpu } = await load(store, records);
  await store.close();
  limit('SQLite: loading a call, µs of CPU', (cpu * 1000) / records, { most: 42 });
  limit('SQLite: bytes a call', statSync(file).size / records, { most: 1_250 });
  const opening = [];
  for (let i = 0; i < 9; i += 1)
    opening.push((await timed(async () => (await openStore(url)).close())).cpu);
  limit('SQLite: opening and closing, ms', median(opening), { most: 10 });

  const opened = await openStore(url);
  for (const q of [
    '',
    'talk_minutes:[0.3 TO *]',
    'talk_minutes:[0.3 TO *],date_added:[2026-01-01 00:00:00 TO *]',
  ]) {
    const selection = selectionOf(parse(q, { version: 'v3' }), { extensions: false });
    const counts = [];
    for (let i = 0; i < rounds; i += 1) {
      // Another store remembers nothing.
      const fresh = await openStore(url);
      await fresh.accounts();
      counts.push((await timed(() => fresh.count('101', selection))).cpu);
      await fresh.close();
    }
    figure(`SQLite: count, ${q || 'all website calls'}`, median(counts), 'ms');
    const total = await opened.count('101', selection);
    const pages = { first: [], middle: [] };
    for (let i = 0; i < 15; i += 1)
      for (const [which, offset] of [
        ['first', i * 1_000],
        ['middle', Math.floor(total / 2) + i * 1_000],
      ]) {
        const query = { selection, version: 'v3', offset, rows: 1_000 };
        pages[which].push((await timed(() => opened.page('101', query))).cpu);
      }
    figure('SQLite: a first page of 1,000', median(pages.first), 'ms');
    limit(
      'SQLite: a page in the middle against the first',
      median(pages.middle) / median(pages.first),
      {
        most: 2,
      },
    );
  }

  for (const fields of [
    ['date_added', 'talk_minutes', 'ani'],
    ['date_added', 'channel', 'talk_minutes', 'ppc_campaign'],
    ['date_added', 'channel', 'talk_minutes', 'ppc_gclid', 'state', 'landing_page'],
    ['browser'],
  ]) {
    const { cpu: ms } = await timed(async () => {
      for await (const _ of opened.columns('101', fields));
    });
    figure(`SQLite: columns ${fields.join(', ')}`, (ms * 1000) / records, 'µs a call');
  }

  await opened.close();
}

async function postgres(server) {
  const ratios = [];
  const ours = { own: [], all: [] };
  for (let round = 0; round < rounds; round += 1) {
    const url = await server.newUrl();

    // Connections are closed before the server is looked at, so that what they took counts.
    const before = cpuOfServer(url);
    const store = await openStore(url);
    const { cpu } = await load(store, copied);
    await store.close();
    const all = cpu + cpuOfServer(url) - before;
    const file = join(folder, `${round}.copy`);
    const psql = (...commands) =>
      execFileSync('psql', ['-qXAt', url, ...commands.flatMap((command) => ['-c', command])], {
        stdio: 'pipe',
      });
    psql(`\\copy records to '${file}'`, 'create table copied (like records including all)');
    const idle = cpuOfServer(url) + cpuOfChildren();
    psql(`\\copy copied from '${file}'`);
    const peer = cpuOfServer(url) + cpuOfChildren() - idle;
    ours.own.push((cpu * 1000) / copied);
    ours.all.push((all * 1000) / copied);
    ratios.push(all / peer);
    if (round === 0) {
      const bytes = Number(psql("select pg_total_relation_size('records')"));
      limit('PostgreSQL: bytes a call, indexes included', bytes / copied, { most: 1_250 });
    }
  }

  figure('PostgreSQL: loading a call, CPU of this process and the server', median(ours.all), 'µs');
  figure('PostgreSQL: loading a call, CPU of this process', median(ours.own), 'µs');
  limit("PostgreSQL: loading against psql's \\copy, CPU", median(ratios), { most: 2.2 });
}

const server = await postgresServer();
try {
  if (server !== null) await postgres(server);
  await sqlite();
} finally {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
}
