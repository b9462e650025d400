import { setTimeout } from 'node:timers/promises';
import { querySql } from '@call-attribution/store';
import { openDrill } from '@call-attribution/test-tools/drill';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { engineSchema } from '../../src/engine/cards.ts';
import { openSource, type Source } from '../scene.ts';
import { linkTo } from './scene/link.ts';
import {
  allDone,
  compare,
  database,
  endBackends,
  jobFile,
  newPlace,
  startWorker,
  ticketsIn,
} from './scene/scene.ts';

const tally = openDrill({
  name: 'fleet-engine',
  kind: 'kills',
  what: 'Workers on pg-boss are killed, stopped past their take-over, cut off from the engine, and lose all connections; every call is in the target once, an account has one ticket, and no table of the engine has a key or the number of a caller',
});

let source: Source;
beforeAll(async () => {
  source = await openSource({ accounts: 6, records: 4_000 });
  source.sandbox.faults.set('*', 'latency=120ms');
});
afterAll(() => source[Symbol.asyncDispose]());

const begun = async (worker: {
  readonly events: readonly unknown[];
  readonly errors: readonly string[];
}) => expect.poll(() => worker.events.length + worker.errors.length).toBeGreaterThan(0);

test('workers that are killed, stopped and cut off lose and double nothing', async () => {
  await tally.run(async () => {
    const [url, place] = await Promise.all([database(), newPlace('sqlite', source.folder)]);
    const job = jobFile(source, source.job(place.into, { name: 'kills' }));
    const { link, url: linked } = await linkTo(url);
    const start = (engine = url) => startWorker({ engine, job, keys: source.keys, slots: 2 });
    const killed = start();
    const stopped = start();
    const cut = start(linked);

    const active = async () =>
      (await ticketsIn(url, 'kills').catch(() => [])).filter(({ state }) => state === 'active')
        .length;

    for (const worker of [killed, stopped, cut]) await begun(worker);
    await expect.poll(active).toBeGreaterThan(3);
    killed.child.kill('SIGKILL');
    stopped.child.kill('SIGSTOP');
    link.cut();
    for (const what of ['kills', 'stops', 'cuts']) tally.happened(what);
    const other = start();
    await begun(other);
    await endBackends(url);
    tally.happened('ended connections');

    // Past the take-over.
    await setTimeout(14_000);
    stopped.child.kill('SIGCONT');
    link.restore();
    await allDone([other, stopped, cut], url, 'kills', source);
    await link.close();
    await compare(tally, source, place);
    await nothingPrivate(url, await callersIn(place.into));
  });
});

/** The numbers of all callers in a store. */
async function callersIn(into: string): Promise<string[]> {
  const callers: string[] = [];
  const sql = 'SELECT DISTINCT ani FROM calls WHERE length(ani) > 6';
  for await (const { ani } of await querySql(into, sql)) callers.push(String(ani));
  return callers;
}

/** No table of the engine has a key or the number of a caller. */
async function nothingPrivate(url: string, callers: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows: tables } = await client.query(
    'SELECT tablename FROM pg_tables WHERE schemaname = $1',
    [engineSchema],
  );
  let text = '';
  for (const { tablename } of tables)
    text += JSON.stringify(
      (await client.query(`SELECT * FROM ${engineSchema}."${tablename}"`)).rows,
    );

  await client.end();
  expect(text.length).toBeGreaterThan(1_000);
  for (const { accessKey, secretKey, bearerToken } of source.sandbox.accounts)
    for (const secret of [accessKey, secretKey, bearerToken]) expect(text).not.toContain(secret);
  expect(callers.length).toBeGreaterThan(100);
  for (const caller of callers) expect(text).not.toContain(caller);
}
