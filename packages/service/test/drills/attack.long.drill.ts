import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { localhostTls } from '@call-attribution/test-tools/tls';
import { afterAll, expect, test } from 'vitest';

/** Other work on the machine can only make a round worse, so a round may be repeated when its times are too long. */
const goodRounds = rounds(1, 3);
const mostRounds = 3 * goodRounds;
const tally = openDrill({
  name: 'attack',
  kind: 'hostile clients',
  what: '10,000 bad requests, 2,000 silent TLS connections, 500 slow readers and 1,200 pages requested ahead at once; a good client gets right pages, its p99 stays under 3 times the quiet one, and memory under 400 MB',
});
const fixtures = dirname(localhostTls.certFile);
const ca = localhostTls.cert;
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
  const service = fork(await built('service-under-attack'), [folder, fixtures]);
  const { url, adminUrl } = await message<{ url: string; adminUrl: string }>(service);
  const attackers = fork(await built('attackers'), [new URL(url).port]);
  await message(attackers);

  const all: Sample[] = [];
  const past: Round[] = [];
  for (let good = 0; good < goodRounds && past.length < mostRounds; ) {
    const quiet: Sample[] = [];
    const attacked: Sample[] = [];
    const quietUntil = performance.now() + 6_000;
    await goodClient(url, quiet, () => performance.now() > quietUntil);
    let isOver = false;
    const reading = goodClient(url, attacked, () => isOver);
    attackers.send('go');
    await message(attackers);
    isOver = true;
    await reading;
    attackers.send('leave');
    const counts = await message<Counts>(attackers);
    all.push(...quiet, ...attacked);
    const ratio = p99(attacked) / p99(quiet);
    if (ratio < 3) good += 1;
    past.push({ ratio, counts, attacked: attacked.length, times: [times(quiet), times(attacked)] });
    await new Promise((done) => setTimeout(done, 1_000));
  }
  attackers.send('end');
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  service.send('end');
  const { peakMb, log } = await message<{ peakMb: number; log: Record<string, number> }>(service);

  const faults = (fault: Sample['fault']) => all.filter((sample) => sample.fault === fault).length;
  tally.add({ runs: all.length, lost: faults('lost'), hung: faults('hung'), lied: faults('lied') });
  tally.happened(
    'pages read under attack',
    past.reduce((sum, { attacked }) => sum + attacked, 0),
  );
  process.stdout.write(`attack: memory ${peakMb} MB\n`);
  for (const { ratio, counts, times } of past) {
    const { seconds, cpuShare, ...outcomes } = counts;
    process.stdout.write(
      `attack: quiet ${times[0]}, attacked ${times[1]}, ratio ${ratio.toFixed(2)}; ${seconds.toFixed(0)} s, attackers used ${(100 * cpuShare).toFixed(0)} % of a core; ${JSON.stringify(outcomes)}\n`,
    );
  }
  expect(all.filter(({ fault }) => fault !== null)).toEqual([]);
  // The request for the metrics itself.
  expect(metrics).toMatch(/^calls_http_requests_in_flight 1$/m);
  expect(metrics).toMatch(/^calls_http_requests_waiting 0$/m);
  expect(Object.keys(log).filter((name) => name.startsWith('error'))).toEqual([]);
  for (const { counts } of past) {
    const { statuses } = counts.bad;
    expect(Object.keys(statuses).filter((status) => status >= '500')).toEqual([]);
    expect(Object.values(statuses).reduce((sum, n) => sum + n, 0)).toBeGreaterThan(9_900);
  }
  expect(peakMb).toBeLessThan(400);
  expect(past.at(-1)?.attacked).toBeGreaterThan(300);
  expect(past.filter(({ ratio }) => ratio < 3)).toHaveLength(goodRounds);
});

interface Round {
  readonly ratio: number;
  readonly counts: Counts;
  readonly attacked: number;
  readonly times: readonly [string, string];
}

interface Counts {
  readonly seconds: number;
  readonly cpuShare: number;
  readonly bad: { readonly statuses: Readonly<Record<string, number>> };
}

const times = (samples: readonly Sample[]): string =>
  `p50 ${quantile(samples, 0.5).toFixed(1)} p99 ${p99(samples).toFixed(1)} ms (${samples.length})`;

function message<T>(child: ReturnType<typeof fork>): Promise<T> {
  return new Promise((done, fail) => {
    const ended = () => fail(new Error('A process of the drill ended early.'));
    child.once('exit', ended);
    child.once('message', (value) => {
      child.off('exit', ended);
      done(value as T);
    });
  });
}
