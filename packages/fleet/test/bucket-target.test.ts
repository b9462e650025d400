import { afterAll } from 'vitest';
import { openBucketTarget } from '../src/target/bucket-target.ts';
import { startBucketServer } from './bucket-server.ts';
import { targetLaws } from './target-laws.ts';

const waits = { retry: { attempts: 4, baseDelay: 1, maxDelay: 5 }, idleMs: 5_000, lookMs: 0 };
const server = await startBucketServer({ pageSize: 3 });
afterAll(() => server.close());
let prefixes = 0;

targetLaws('a bucket', async () => {
  prefixes += 1;
  const prefix = `fleet ü+&=/${prefixes}`;
  const into = `s3://${server.bucket}/${prefix}`;
  return {
    into,
    open: (job) => openBucketTarget(into, job, { env: server.env, waits }),
    records: async (account) =>
      [...server.objects]
        .filter(([key]) => key.startsWith(`${prefix}/account=${account}/`))
        .flatMap(([, { body }]) => body.toString('utf8').split('\n'))
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
});
