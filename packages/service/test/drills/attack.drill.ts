import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, expect, test } from 'vitest';

const attacks = rounds(2, 6);
const tally = openDrill({
  name: 'attack',
  kind: 'hostile clients',
  what: '10,000 bad requests, 2,000 silent TLS connections, 500 slow readers and 1,200 pages requested ahead at once; a good client gets right pages, its p99 stays under 3 times the quiet one, and memory under 400 MB',
});
const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url));
const ca = readFileSync(join(fixtures, 'localhost-cert.pem'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'calls-attack-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Sample {
  readonly ms: number;
  readonly fault: 'lost' | 'hung' | 'lied' | null;
}

/** A client that reads pages one after the other, every twentieth time on a new connection, until it is to stop. */
async function goodClient(url: string, samples: Sample[], isOver: () => boolean): Promise<void> {
  const kept = new Agent({ keepAlive: true, maxSockets: 1, ca });
  for (let i = 0; !isOver(); i += 1) {
    const agent = i % 20 === 19 ? new Agent({ ca }) : kept;
    samples.push(await readPage(url, agent));
    if (agent !== kept) agent.destroy();
    await new Promise((done) => setTimeout(done, 10));
  }
  kept.destroy();
}

function readPage(url: string, agent: Agent): Promise<Sample> {
  const headers = { access_key: 'good_access', secret_key: 'good_secret' };
  const began = performance.now();
  return new Promise((done) => {
    const end = (fault: Sample['fault']) => done({ ms: performance.now() - began, fault });
    const request = get(`${url}/v3/user/bid-management?rows=100&q=inc_gce:1`, {
      agent,
      headers,
      timeout: 10_000,
    });
    request.once('timeout', () => {
      end('hung');
      request.destroy();
    });
    request.once('error', () => end('lost'));
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', () => end('lost'));
      response.once('end', () => {
        if (response.statusCode !== 200) return end('lost');
        const isRight =
          response.headers['content-range'] === '1-100/5000' &&
          (JSON.parse(Buffer.concat(chunks).toString()) as unknown[]).length === 100;
        end(isRight ? null : 'lied');
      });
    });
  });
}

const quantile = (samples: readonly Sample[], share: number): number =>
  samples.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(samples.length * share)] as number;
const p99 = (samples: readonly Sample[]): number => quantile(samples, 0.99);

test('a good client is served while 10,000 bad requests, 2,000 silent connections, 500 slow readers and 1,200 pages sent ahead arrive', async () => {
  const built = (name: string) => builtFile(new URL(`../attack/${name}.ts`, import.meta.url).href);
  const service = fork(
    await built('service-under-attack'),
    [folder, fixtures],
    process.env.PROF ? { execArgv: ['--cpu-prof', '--cpu-prof-dir=/tmp/prof'] } : {},
  );
  const { url, adminUrl } = await message<{ url: string; adminUrl: string }>(service);
  const attackers = fork(await built('attackers'), [new URL(url).port]);
  await message(attackers);

  const quiet: Sample[] = [];
  const attacked: Sample[] = [];
  const counts: Round[] = [];
  for (let round = 0; round < attacks; round += 1) {
    const quietUntil = performance.now() + 12_000;
    await goodClient(url, quiet, () => performance.now() > quietUntil);
    let isOver = false;
    const reading = goodClient(url, attacked, () => isOver);
    attackers.send('go');
    counts.push(await message<Round>(attackers));
    isOver = true;
    await reading;
    await new Promise((done) => setTimeout(done, 1_000));
  }
  attackers.send('end');
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  service.send('end');
  const { peakMb, log } = await message<{ peakMb: number; log: Record<string, number> }>(service);

  const all = [...quiet, ...attacked];
  const faults = (fault: Sample['fault']) => all.filter((sample) => sample.fault === fault).length;
  tally.add({ runs: all.length, lost: faults('lost'), hung: faults('hung'), lied: faults('lied') });
  tally.happened('pages read under attack', attacked.length);
  process.stdout.write(
    `${JSON.stringify({
      quiet50: quantile(quiet, 0.5),
      attacked50: quantile(attacked, 0.5),
      quietP99: p99(quiet),
      attackedP99: p99(attacked),
      quiet: quiet.length,
      attacked: attacked.length,
      peakMb,
      log,
      counts,
    })}\n`,
  );
  expect(all.filter(({ fault }) => fault !== null)).toEqual([]);
  // The request for the metrics itself.
  expect(metrics).toMatch(/^calls_http_requests_in_flight 1$/m);
  expect(metrics).toMatch(/^calls_http_requests_waiting 0$/m);
  expect(Object.keys(log).filter((name) => name.startsWith('error'))).toEqual([]);
  for (const { bad } of counts)
    expect(Object.keys(bad.statuses).filter((status) => status >= '500')).toEqual([]);
  expect(peakMb).toBeLessThan(400);
  expect(attacked.length).toBeGreaterThan(300);
  expect(p99(attacked)).toBeLessThan(3 * p99(quiet));
});

interface Round {
  readonly bad: { readonly statuses: Readonly<Record<string, number>> };
}

function message<T>(child: ReturnType<typeof fork>): Promise<T> {
  return new Promise((done, fail) => {
    child.once('message', (value) => done(value as T));
    child.once('exit', () => fail(new Error('A process of the drill ended early.')));
  });
}
