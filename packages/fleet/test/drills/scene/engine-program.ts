import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { engineSchema } from '../../../src/engine/cards.ts';
import { checkJob, type Engine, jobsIn, openPostgresEngine } from '../../../src/index.ts';

// An engine in a process of its own, on the Node.js that pg-boss runs on: does what it is told, one
// message each.
const [url = '', job = ''] = process.argv.slice(2);
let engine: Engine | undefined;

/** Keeps the cards as the first release did: as jobs of the queue that never become due. */
async function asBefore(): Promise<void> {
  const facts = await engine?.look();
  const boss = new PgBoss({ connectionString: url, schema: engineSchema, supervise: false });
  await boss.start();
  const startAfter = new Date('9999-01-01T00:00:00Z');
  const cards = (facts?.workers ?? []).map((card) => ({ key: `worker/${card.name}`, card }));
  for (const { key, card } of [{ key: 'job', card: facts?.card }, ...cards])
    await boss.upsert(`fleet/${job}`, card, { singletonKey: key, startAfter });
  await boss.stop({ graceful: false });

  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`DROP TABLE ${engineSchema}.job_card, ${engineSchema}.worker_card`);
  await client.end();
}

async function answer(method: string, args: readonly unknown[]): Promise<unknown> {
  if (method === 'open') {
    engine = await openPostgresEngine(url, { job });
    return null;
  }

  if (method === 'jobs') return jobsIn(url);
  if (method === 'asBefore') return asBefore();
  if (method === 'join') {
    const [file, worker] = args as [Parameters<typeof checkJob>[0], Parameters<Engine['join']>[1]];
    return engine?.join(await checkJob(file), worker);
  }

  const does = engine?.[method as 'look'] as (...args: readonly unknown[]) => Promise<unknown>;
  const value = await does.apply(engine, [...args]);
  return value instanceof Set ? [...value] : value;
}

process.on('message', ({ id, method, args }: { id: number; method: string; args: unknown[] }) => {
  answer(method, args)
    .then(
      (value) => process.send?.({ id, value: value ?? null }),
      (error: { code?: string; message: string }) =>
        process.send?.({ id, error: `${error.code}: ${error.message}` }),
    )
    .finally(() => {
      // It ends once the answer was sent.
      if (method === 'close') process.disconnect();
    });
});
