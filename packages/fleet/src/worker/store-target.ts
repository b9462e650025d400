import { createHash } from 'node:crypto';
import { openStore, type Store, type StoreOptions } from '@call-attribution/store';
import { targetLocked } from '../errors.ts';
import { lockTarget } from '../turn/target-lock.ts';
import type { Target } from '../turn/turn.ts';
import { turnIntoStore } from '../turn/turn-into-store.ts';

/** A database as a target: each account is brought up to date as `calls sync` does it. */
export async function openStoreTarget(into: string, options: StoreOptions = {}): Promise<Target> {
  return storeTarget(await openStore(into, options), into);
}

function storeTarget(store: Store, into: string): Target {
  const known = new Set<string>();
  const close = () => store.close();
  return {
    name: store.name,
    prepare: async () => {
      for (const { id } of await store.accounts()) known.add(id);
      await store.ping();
    },
    lock: (job) =>
      into.startsWith('sqlite:')
        ? lockTarget(store.name, `${into.slice('sqlite:'.length)}.fleet.lock`)
        : lockDatabase(into, store.name, job.name),
    async turn(work) {
      const { id, name } = work.account;
      // An account that has a name keeps it when the job has none.
      if (!known.has(id) || name !== id) await store.putAccount({ id, name });
      known.add(id);
      return turnIntoStore(store, work);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A lock of a session: it ends with the connection, and so with the process. */
async function lockDatabase(url: string, name: string, job: string): Promise<() => Promise<void>> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: url,
    application_name: 'call-attribution-fleet',
    keepAlive: true,
  });
  // Once the connection is lost, claims alone keep two processes apart.
  client.on('error', () => {});
  await client.connect();
  const number = createHash('sha256').update(`call-attribution fleet ${job}`).digest().readBigInt64BE(0);
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS mine', [number.toString()]);
  if (rows[0]?.mine !== true) {
    await client.end();
    throw targetLocked(`the job ${job} in ${name}`);
  }
  return () => client.end().catch(() => {});
}
