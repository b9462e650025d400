import { join } from 'node:path';
import { openStore } from '@call-attribution/store';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Engine,
  type Job,
  memoryEngine,
  openTarget,
  retryAside,
  statusOf,
} from '../src/index.ts';
import { startBucketServer } from './bucket-server.ts';
import { orders, startOrderedServer } from './ordered-server.ts';
import {
  notesOf,
  openSource,
  type Source,
  sidsIn,
  sidsOfFile,
  sorted,
  workerOn,
  writeKeys,
} from './scene.ts';

let source: Source;
beforeAll(async () => {
  source = await openSource();
});
afterAll(() => source[Symbol.asyncDispose]());
beforeEach(() => source.sandbox.faults.clear());

let made = 0;
const newInto = (scheme: 'sqlite' | 'folder' = 'sqlite'): string => {
  made += 1;
  return `${scheme}:${join(source.folder, `t${made}`)}`;
};
/** An engine that others may see, too. */
const shared = (): Engine => ({ ...memoryEngine(), isShared: true });
const truth = (account: string) => source.truth.get(account)?.length ?? 0;

test.runIf(process.platform === 'linux')(
  'a folder that cannot be made is refused at once',
  async () => {
    const target = await openTarget('folder:/proc/nope/out', {});
    await expect(target.prepare(true)).rejects.toMatchObject({ code: 'target_unavailable' });
  },
);

test('many workers make the folder of a target at once', async () => {
  const target = await openTarget(`${newInto('folder')}/a/b`, {});
  const made = Promise.all(Array.from({ length: 20 }, () => target.prepare(false)));
  await expect(made).resolves.toHaveLength(20);
});

describe('a job in one process', () => {
  test.each([['3d'], ['60d']] as const)(
    'ends a first read that takes many turns, with a lookback of %s',
    async (lookback) => {
      await using long = await openSource({ accounts: 1, records: 500, days: 40 });

      // A turn ends after 100 pages.
      long.sandbox.faults.set('*', 'clamp=2');
      const engine = memoryEngine();
      const into = `sqlite:${join(long.folder, 'cut')}`;
      let turns = 0;

      const onEvent = () => {
        turns += 1;
        if (turns > 40) worker.leave(0);
      };

      const worker = await workerOn(long, long.job(into, { lookback }), { engine, onEvent });
      await worker.run();
      const [ticket] = (await notesOf(engine)).values();
      expect(ticket).toMatchObject({ state: 'done', note: { whole: true, calls: 500 } });
      expect(turns).toBeGreaterThan(2);
      expect(sorted(await sidsIn(into))).toEqual(sorted(long.truth));
    },
  );

  test.each(['sqlite', 'folder'] as const)(
    'reads every account into %s, each call once, and ends',
    async (scheme) => {
      const into = newInto(scheme);
      const engine = memoryEngine();
      const { reason } = await (await workerOn(source, source.job(into), { engine })).run();
      expect(reason).toBe('done');
      expect(sorted(await sidsIn(into))).toEqual(sorted(source.truth));
      for (const [account, ticket] of await notesOf(engine))
        expect(ticket).toMatchObject({
          state: 'done',
          note: { whole: true, calls: truth(account) },
        });
    },
  );

  test('reads every account into a bucket', async () => {
    const server = await startBucketServer();
    const worker = await workerOn(source, source.job(`s3://${server.bucket}/out`), {
      env: server.env,
    });
    expect((await worker.run()).reason).toBe('done');
    const found = new Map<string, string[]>();
    for (const [key, { body }] of server.objects) {
      const account = /account=([^/]+)\/.*\.parquet$/.exec(key)?.[1];
      if (account !== undefined)
        found.set(account, [...(found.get(account) ?? []), ...(await sidsOfFile(body))]);
    }

    expect(sorted(found)).toEqual(sorted(source.truth));
    await server.close();
  });

  test.each(
    orders.flatMap((order) =>
      (['sqlite', 'folder'] as const).map((scheme) => [order, scheme] as const),
    ),
  )('a server that lists calls in the order %s is read whole into %s', async (order, scheme) => {
    await using server = await startOrderedServer(order);
    const into = newInto(scheme);
    const engine = memoryEngine();
    const job = source.job(into, { baseUrl: server.url, accounts: [{ id: '101' }] });
    await (await workerOn(source, job, { engine })).run();
    expect(sorted(await sidsIn(into))).toEqual(
      sorted(new Map([['101', server.calls.map(({ sid }) => sid)]])),
    );
    const [ticket] = (await notesOf(engine)).values();
    expect(ticket).toMatchObject({
      state: 'done',
      note: { whole: true, calls: server.calls.length },
    });
  });

  test('reads only what is missing when it is started again', async () => {
    const into = newInto('folder');
    const august = { from: '2026-08-01', until: '2026-08-31' };
    await (await workerOn(source, source.job(into, august))).run();
    source.sandbox.requests.clear();
    const again = await workerOn(source, source.job(into, { ...august, settle: '1d' }));
    await again.run();

    // One look for the first call of each account.
    expect(source.sandbox.requests.total).toBe(3);
    const outcomes = again.events.map((event) => event.kind === 'turn' && event.outcome);
    expect(outcomes).toEqual(['round', 'round', 'round']);
  });

  test('a second process is refused at the target', async () => {
    const into = newInto('folder');
    source.sandbox.faults.set('*', 'latency=1m');
    const first = await workerOn(source, source.job(into));
    const running = first.run();
    await expect.poll(() => first.card.accounts.length).toBeGreaterThan(0);
    const second = await workerOn(source, source.job(into));
    await expect(second.run()).rejects.toMatchObject({ code: 'target_unavailable', kind: 'busy' });
    first.leave(0);
    expect((await running).reason).toBe('left');
  });

  test.each(['sqlite', 'folder'] as const)('two jobs share %s', async (scheme) => {
    const into = newInto(scheme);
    await (await workerOn(source, source.job(into))).run();
    const other = await workerOn(source, { ...source.job(into), name: 'other' });
    expect((await other.run()).reason).toBe('done');
    expect(sorted(await sidsIn(into))).toEqual(sorted(source.truth));
  });
});

describe('turns', () => {
  test('429 with Retry-After is waited for; nothing is set aside', async () => {
    const engine = memoryEngine();
    const into = newInto();
    source.sandbox.faults.set(
      '*',
      'status=429, retry-after=2, times=3; status=503, after=4, times=2',
    );
    const worker = await workerOn(source, source.job(into), { engine });
    await worker.run();
    expect(sorted(await sidsIn(into))).toEqual(sorted(source.truth));
    expect(
      worker.events.filter((event) => event.kind === 'turn' && event.outcome === 'aside'),
    ).toEqual([]);
  });

  test('keys that are refused set a ticket aside, the others go on, and retry takes it back', async () => {
    const engine = shared();
    const into = newInto();
    const [first] = source.sandbox.accounts;
    if (first === undefined) throw new Error('no account');
    writeKeys(source.keys, first.id, { accessKey: first.accessKey, secretKey: 'wrong' });
    await (await workerOn(source, source.job(into), { engine })).run();
    expect(statusOf(await engine.look(), Date.now())?.states).toMatchObject({ aside: 1, done: 2 });
    const aside = (await notesOf(engine)).get(first.id);
    expect(aside).toMatchObject({ state: 'aside', trouble: { code: 'unauthorized' } });
    writeKeys(source.keys, first.id, { accessKey: first.accessKey, secretKey: first.secretKey });
    expect(await retryAside(engine)).toMatchObject([{ account: first.id, wasAside: true }]);
    const none = retryAside(engine, { accounts: ['none'] });
    await expect(none).rejects.toMatchObject({ code: 'job_invalid' });
    await (await workerOn(source, source.job(into), { engine })).run();
    expect(sorted(await sidsIn(into))).toEqual(sorted(source.truth));
  });

  test('a claim that is lost is later, never aside', async () => {
    const into = newInto();
    const engine = shared();
    source.sandbox.faults.set('*', 'latency=30ms');
    const worker = await workerOn(source, source.job(into), { engine, slots: 1 });
    const running = worker.run();
    await expect.poll(() => worker.card.accounts.length).toBe(1);
    const store = await openStore(into);
    await expect
      .poll(async () => {
        const [account] = (await store.accounts()).map(({ id }) => id);
        if (account !== undefined) await store.claim(account, 'somebody else');
        return worker.events.some((event) => event.kind === 'turn' && event.outcome === 'lost');
      })
      .toBe(true);
    await store.close();
    expect([...(await notesOf(engine)).values()].every(({ state }) => state !== 'aside')).toBe(
      true,
    );
    worker.leave(0);
    await running;
  });
});

describe('the job file', () => {
  test('a worker with another file is refused while others work, and takes over once they have stopped', async () => {
    const engine = shared();
    const into = newInto();
    const job: Job = { ...source.job(into), every: '10m' };
    const [removed, ...others] = job.accounts;
    const edited: Job = { ...job, accounts: others, requestsPerMinute: 500 };
    const first = await workerOn(source, job, { engine });
    const running = first.run();
    await expect.poll(async () => statusOf(await engine.look(), Date.now())?.states.read).toBe(3);
    const refused = await workerOn(source, edited, { engine });
    const words = /with other accounts\. Stop all of them, then start them with the edited file/;
    const message = expect.stringMatching(words);
    await expect(refused.run()).rejects.toMatchObject({ code: 'job_invalid', message });
    expect(refused.events.some(({ kind }) => kind === 'turn')).toBe(false);
    first.leave(0);
    await running;

    const next = await workerOn(source, edited, { engine });
    const again = next.run();
    await expect
      .poll(async () => (await engine.look()).tickets.map(({ account }) => account).sort())
      .toEqual(others.map(({ id }) => id));
    await expect.poll(() => next.events.filter(({ kind }) => kind === 'turn').length).toBe(2);
    expect((await sidsIn(into)).get(removed?.id ?? '')?.length).toBe(truth(removed?.id ?? ''));
    next.leave(0);
    await again;
  });

  test('whoever writes to the engine moves no request, no key and no record', async () => {
    const engine = shared();
    const into = newInto();
    const job = source.job(into);
    const hostile: Engine = {
      ...engine,
      take: async (most) =>
        (await engine.take(most)).map((turn) => ({
          ...turn,
          baseUrl: 'http://thief',
          credential: 'env:PATH',
          into: 'folder:/tmp/thief',
        })),
    };
    const target = await openTarget(into);
    const worker = await workerOn(source, job, { engine: hostile, target });
    await worker.run();
    expect(sorted(await sidsIn(into))).toEqual(sorted(source.truth));
    const kept = JSON.stringify(await engine.look());
    for (const { accessKey, secretKey, bearerToken } of source.sandbox.accounts)
      for (const secret of [accessKey, secretKey, bearerToken]) expect(kept).not.toContain(secret);
  });
});
