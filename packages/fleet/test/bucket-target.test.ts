import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { PinnedJob, Target } from '../src/index.ts';
import { openBucketTarget } from '../src/target/bucket-target.ts';
import { openTarget } from '../src/target/open-target.ts';
import { startBucketServer } from './bucket-server.ts';
import { all, callsOf, pagesOf } from './real-pages.ts';
import {
  cutIntoParcels,
  type FilledParcel,
  pinnedJob,
  planOf,
  readingOf,
  targetLaws,
} from './target-laws.ts';

const waits = { retry: { attempts: 4, baseDelay: 1, maxDelay: 5 }, idleMs: 30_000, lookMs: 0 };
const scratch = mkdtempSync(join(tmpdir(), 'fleet-scratch-'));
const server = await startBucketServer({ pageSize: 3 });
const { env } = server;
afterAll(async () => {
  await server.close();
  const left = readdirSync(scratch);
  rmSync(scratch, { recursive: true });
  expect(left).toEqual([]);
});
let prefixes = 0;
const newPrefix = () => {
  prefixes += 1;
  return `fleet ü+&=/${prefixes}`;
};

targetLaws('a bucket', async () => {
  const prefix = newPrefix();
  const into = `s3://${server.bucket}/${prefix}`;
  return {
    into,
    open: (job) => openBucketTarget(into, job, { env, waits, scratch }),
    records: async (account) =>
      [...server.objects]
        .filter(([key]) => key.startsWith(`${prefix}/account=${account}/`))
        .flatMap(([, { body }]) => body.toString('utf8').split('\n'))
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
});

describe('a target in a bucket', () => {
  const [first, second] = cutIntoParcels(callsOf(60), 30) as [FilledParcel, FilledParcel];
  const read = Promise.all([first, second].map(({ calls }) => pagesOf(calls, 10)));
  const opened: Target[] = [];
  beforeEach(() => {
    server.behavior.before = () => undefined;
    server.behavior.keepsChecksums = true;
  });
  afterAll(() => Promise.all(opened.map((target) => target.close())));

  async function open(changes: Partial<PinnedJob> = {}) {
    const prefix = newPrefix();
    const job = pinnedJob(`s3://${server.bucket}/${prefix}`, changes);
    const target = await openBucketTarget(job.into, job, { env, waits, scratch });
    opened.push(target);
    await target.pin(job);
    await target.plan({ id: '101' }, async () => planOf([first, second]));
    return { prefix, job, target };
  }
  async function fill(target: Target, filled: FilledParcel, by = 'w1') {
    const claim = await target.claim('101', filled.parcel, by);
    expect(claim.done).toBeNull();
    for (const page of (await read)[filled.parcel.index] ?? []) await claim.put(page);
    return claim.commit(readingOf('101', filled, by));
  }
  const keysBelow = (prefix: string) =>
    [...server.objects.keys()]
      .filter((key) => key.startsWith(`${prefix}/`))
      .map((key) => key.slice(prefix.length + 1))
      .sort();

  test('names objects by parcel, states what they are, and leaves nothing else', async () => {
    const { prefix, target } = await open({ format: 'ndjson.gz' });
    const verdict = await fill(target, first);
    await fill(target, second);
    const key = second.parcel.from?.replace(' ', 'T').replaceAll(':', '');
    expect(keysBelow(prefix)).toEqual([
      '_fleet.json',
      '_plan/101.json',
      `_verdicts/account=101/${key}.json`,
      '_verdicts/account=101/start.json',
      `account=101/month=2024-01/${key}.ndjson.gz`,
      'account=101/month=2024-01/start.ndjson.gz',
    ]);
    const part = server.objects.get(`${prefix}/account=101/month=2024-01/start.ndjson.gz`);
    expect(part?.body.length).toBe(verdict.bytes);
    expect(part?.meta['x-amz-meta-sha256']).toBe(verdict.sha256);
    expect(JSON.stringify([...server.objects])).not.toContain(env.AWS_SECRET_ACCESS_KEY);
  });

  test('does not send a part again that lies there with the same bytes', async () => {
    const { target } = await open();
    await fill(target, first);
    await target.reopen('101', first.parcel);
    server.requests.length = 0;
    const verdict = await fill(target, first);
    expect(server.requests.filter(({ method, key }) => method === 'PUT' && key.endsWith('.ndjson'))).toEqual(
      [],
    );
    expect(await all(target.verdicts('101'))).toEqual([verdict]);
  });

  test('reads a parcel again whose part is gone or another one, and says what is wrong with it', async () => {
    const { prefix, target } = await open();
    const verdict = await fill(target, first);
    const key = `${prefix}/account=101/month=2024-01/start.ndjson`;
    const there = server.objects.get(key) as NonNullable<ReturnType<typeof server.objects.get>>;
    for (const keepsChecksums of [true, false]) {
      server.behavior.keepsChecksums = keepsChecksums;
      expect(await target.inspect('101', verdict)).toBeNull();
      const body = Buffer.from(there.body);
      body[10] = (body[10] ?? 0) ^ 1;
      server.objects.set(key, { ...there, body, etag: '"of-another"', checksum: 'b3RoZXI=' });
      expect(await target.inspect('101', verdict)).toContain('SHA-256');
      server.objects.set(key, { ...there, body: body.subarray(9), etag: '"short"' });
      expect(await target.inspect('101', verdict)).toContain(`${verdict.bytes - 9} bytes`);
      expect(await all(target.verdicts('101'))).toEqual([]);
      server.objects.delete(key);
      expect(await target.inspect('101', verdict)).toContain('is missing');
      server.objects.set(key, there);
    }
    server.objects.delete(key);
    expect(await all(target.verdicts('101'))).toEqual([]);
    const again = await fill(target, first, 'w2');
    expect(await all(target.verdicts('101'))).toEqual([again]);
  });

  test('is read on by the next worker, whichever request of one was its last', async () => {
    const { prefix, target, job } = await open();
    let struck = true;
    for (let last = 1; struck; last += 1) {
      const worker = await openBucketTarget(job.into, job, { env, waits, scratch });
      let count = 0;
      server.behavior.before = () => {
        count += 1;
        if (count < last) return undefined;
        void worker.close();
        return 'lose';
      };
      await fill(worker, second, 'w1').catch(() => {});
      server.behavior.before = () => undefined;
      await worker.close();
      struck = count >= last;
      const claim = await target.claim('101', second.parcel, 'w2');
      if (claim.done === null) {
        for (const page of (await read)[1] ?? []) await claim.put(page);
        await claim.commit(readingOf('101', second, 'w2'));
      }
      const [verdict, ...more] = await all(target.verdicts('101'));
      expect([verdict?.records, more]).toEqual([30, []]);
      expect(keysBelow(prefix).filter((key) => key.endsWith('.ndjson'))).toHaveLength(1);
      await target.reopen('101', second.parcel);
    }
  });

  test('that was opened to look is tested before it is written to', async () => {
    const { job, target } = await open();
    await fill(target, first);
    server.behavior.ignores = ['if-match'];
    await using looking = await openBucketTarget(job.into, null, { env, waits, scratch });
    expect(await all(looking.verdicts('101'))).toHaveLength(1);
    const unfit = { code: 'target_unfit' };
    await expect(looking.reopen('101', first.parcel)).rejects.toMatchObject(unfit);
    await expect(looking.claim('101', second.parcel, 'w1')).rejects.toMatchObject(unfit);
    await expect(openBucketTarget(job.into, job, { env, waits, scratch })).rejects.toMatchObject(unfit);
    server.behavior.ignores = [];
  });

  test('refuses a prefix with something else in it, and slots and jobs that it cannot read', async () => {
    const prefix = newPrefix();
    const thing = { body: Buffer.from('{}'), etag: '"e"', meta: {}, checksum: '' };
    server.objects.set(`${prefix}/photos/1.jpg`, thing);
    const job = pinnedJob(`s3://${server.bucket}/${prefix}`);
    await expect(openBucketTarget(job.into, job, { env, waits, scratch })).rejects.toMatchObject({
      code: 'target_unfit',
      message: expect.stringContaining('holds something else'),
    });
    const { prefix: other, target, job: mine } = await open();
    server.objects.set(`${other}/_verdicts/account=101/start.json`, thing);
    await expect(target.claim('101', first.parcel, 'w1')).rejects.toMatchObject({ code: 'target_unfit' });
    const later = { ...thing, body: Buffer.from(JSON.stringify({ format: 2, job: mine })) };
    server.objects.set(`${other}/_fleet.json`, later);
    await expect(openBucketTarget(mine.into, mine, { env, waits })).rejects.toMatchObject({
      code: 'job_newer',
    });
  });

  test('has its keys from the environment when it is opened by its URL', async () => {
    const { job } = await open();
    const before = { ...process.env };
    try {
      for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
      await expect(openTarget(job.into, null)).rejects.toMatchObject({ code: 'credential_missing' });
      Object.assign(process.env, env);
      await using target = await openTarget(job.into, job, { scratch });
      expect(target.name).toBe(job.into);
      expect(await target.planOf('101')).toEqual(planOf([first, second]));
    } finally {
      for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
      Object.assign(process.env, before);
    }
  });
});
