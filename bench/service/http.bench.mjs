// Requests per second for a list of 100 records, against json-server (the same records from memory)
// and Prism (the same 100 records as the example of its OpenAPI document), and the memory of the
// service over 100,000 requests. Each server is a process of its own; they take turns, and the
// figure is the median of the rounds. What is compared is the CPU time of the servers, which other
// work on the machine changes least.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { limit, median } from '../figures.mjs';

const records = 20_000;
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 5);
const seconds = Number(process.env.CALLS_BENCH_SECONDS ?? 4);
const many = Number(process.env.CALLS_BENCH_REQUESTS ?? 100_000);
const require = createRequire(import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));
const children = [];
const keys = { access_key: 'test_access_101', secret_key: 'test_secret_101' };
const list = '/v3/user/bid-management?q=inc_gce:1&rows=100&start=';

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

function start(script, args) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
}

function get(agent, url, headers) {
  return new Promise((done, fail) => {
    http
      .get(url, { agent, headers }, (answer) => {
        let bytes = 0;
        answer.on('data', (part) => {
          bytes += part.length;
        });
        answer.on('end', () => done({ status: answer.statusCode, bytes }));
        answer.on('error', fail);
      })
      .on('error', fail);
  });
}

async function answering(url, headers = {}) {
  const agent = new http.Agent();
  for (let tries = 0; tries < 300; tries += 1) {
    try {
      const { status } = await get(agent, url, headers);
      if (status === 200) return;
    } catch {}
    await new Promise((done) => setTimeout(done, 200));
  }

  throw new Error(`${url} does not answer with 200.`);
}

/** Sixteen connections ask as fast as they are answered; gives requests per second. */
async function load(target, until) {
  const cpu = cpuOf(target.pid);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  const began = performance.now();
  let answered = 0;
  let bytes = 0;

  const worker = async (first) => {
    for (let i = first; !until(answered, performance.now() - began); i += 16) {
      const answer = await get(agent, target.url(i), target.headers);
      if (answer.status !== 200) throw new Error(`${target.name} answered ${answer.status}.`);
      answered += 1;
      bytes += answer.bytes;
    }
  };

  await Promise.all(Array.from({ length: 16 }, (_, first) => worker(first)));
  agent.destroy();
  return {
    rate: (answered / (performance.now() - began)) * 1000,
    cpuMs: ((cpuOf(target.pid) - cpu) / answered) * 1000,
    bytes: bytes / answered,
  };
}

/** CPU time that a process has used, in seconds. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function rss(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

try {
  const bin = new URL('../../packages/cli/dist/bin.js', import.meta.url).pathname;
  const service = start(bin, [
    'serve',
    '--records',
    String(records),
    '--port',
    '0',
    '--ready-json',
  ]);
  const { url } = JSON.parse(
    await new Promise((done) => service.stdout.once('data', (line) => done(String(line)))),
  );
  const sample = [];
  for (let page = 0; page < records / 1000; page += 1) {
    const answer = await fetch(
      `${url}/v3/user/bid-management?q=inc_gce:1&rows=1000&start=${page}`,
      {
        headers: keys,
      },
    );
    sample.push(...(await answer.json()));
  }
  const document = await (await fetch(`${url}/openapi.json`)).json();
  const operation = document.paths['/v3/user/bid-management'].get;
  operation.responses['200'].content['application/json'].example = sample.slice(0, 100);
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  writeFileSync(
    join(folder, 'db.json'),
    JSON.stringify({ calls: sample.map((call) => ({ id: call.sid, ...call })) }),
  );

  const jsonPort = await freePort();
  const prismPort = await freePort();
  const jsonServer = join(dirname(require.resolve('json-server/package.json')), 'lib/cli/bin.js');
  const json = start(jsonServer, [
    '--port',
    String(jsonPort),
    '--host',
    '127.0.0.1',
    '--quiet',
    join(folder, 'db.json'),
  ]);
  const prism = join(
    dirname(require.resolve('@stoplight/prism-cli/package.json')),
    'dist/index.js',
  );
  const mock = start(prism, [
    'mock',
    '--port',
    String(prismPort),
    '--host',
    '127.0.0.1',
    '--verboseLevel',
    'silent',
    join(folder, 'openapi.json'),
  ]);
  const pages = records / 100;
  const targets = [
    { name: 'service', pid: service.pid, url: (i) => `${url}${list}${i % pages}`, headers: keys },
    {
      name: 'json-server',
      pid: json.pid,
      url: (i) => `http://127.0.0.1:${jsonPort}/calls?_limit=100&_page=${(i % pages) + 1}`,
      headers: {},
    },
    {
      name: 'Prism',
      pid: mock.pid,
      url: (i) => `http://127.0.0.1:${prismPort}${list}${i % pages}`,
      headers: keys,
    },
  ];
  for (const target of targets) await answering(target.url(0), target.headers);

  const rates = new Map(targets.map(({ name }) => [name, []]));
  const costs = new Map(targets.map(({ name }) => [name, []]));
  const sizes = new Map();
  for (let round = 0; round <= rounds; round += 1) {
    for (const target of targets) {
      const { rate, cpuMs, bytes } = await load(target, (_, ms) => ms >= seconds * 1000);
      sizes.set(target.name, bytes);
      if (round === 0) continue;
      rates.get(target.name).push(rate);
      costs.get(target.name).push(cpuMs);
    }
  }
  console.log('lists of 100 records per second, 16 connections');
  for (const [name, all] of rates)
    console.log(
      `  ${name.padEnd(12)} ${median(all).toFixed(0).padStart(7)}   ${median(costs.get(name)).toFixed(1)} ms of CPU each (${(sizes.get(name) / 1024).toFixed(0)} KiB)`,
    );
  const ours = median(costs.get('service'));
  limit('service against json-server', median(costs.get('json-server')) / ours, { least: 2 });
  for (const child of children.slice(1)) child.kill();

  const mixed = {
    name: 'service',
    pid: service.pid,
    headers: keys,
    // Six single records to four lists of ten, all over the calls.
    url: (i) =>
      i % 10 < 6
        ? `${url}/v3/user/bid-management/${sample[(i * 7919) % records].sid}`
        : `${url}/v3/user/bid-management?q=inc_gce:1&rows=10&start=${(i * 31) % (records / 10)}`,
  };
  await load(mixed, (n) => n >= many / 5);
  const before = rss(service.pid);
  const { rate } = await load(mixed, (n) => n >= many);
  const after = rss(service.pid);
  console.log(
    `memory: ${before.toFixed(0)} MiB after ${many / 5} requests, ${after.toFixed(0)} MiB after ${many} more (${rate.toFixed(0)} per second)`,
  );
  limit('memory after against before', after / before, { most: 1.15 });
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
