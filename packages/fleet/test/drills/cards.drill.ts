import { setTimeout } from 'node:timers/promises';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { runSql } from '@call-attribution/test-tools/postgres';
import pg from 'pg';
import { expect, test } from 'vitest';
import { engineSchema } from '../../src/engine/cards.ts';
import { blankNote, livingMs } from '../../src/engine/engine.ts';
import type { Job } from '../../src/index.ts';
import { workerCard } from '../worker-card.ts';
import { database, remoteEngine } from './scene/scene.ts';

const tally = openDrill({
  name: 'fleet-cards',
  kind: 'kills',
  what: 'What workers are told of a job and of each other: its card keeps its start, a worker with another job file is refused while others live, who leaves or is silent for long is forgotten, a killed start leaves a job whole or not there, and pg-boss has accounts and nothing else; cards of the first release are moved',
});

const ids = ['101', '102', '103', '104'];

const job = (more: Partial<Job> = {}): Job => ({
  name: 'cards',
  baseUrl: 'https://api.example.com',
  into: 'sqlite:x',
  accounts: ids.map((id) => ({ id })),
  ...more,
});

const trouble = { kind: 'credential', code: 'unauthorized', message: 'No.', by: 'w1' } as const;

/** The keys of all that pg-boss has of the job, as they lie in its table. */
async function keysIn(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const sql = `SELECT singleton_key AS key FROM ${engineSchema}.job WHERE name = 'fleet/cards' ORDER BY 1`;
  const { rows } = await client.query<{ key: string }>(sql);
  await client.end();
  return rows.map(({ key }) => key);
}

const accountKeys = ids.map((id) => `account/${id}`);

test('a job keeps the start of its first worker, and workers see each other', () =>
  tally.run(async () => {
    const url = await database();
    const engine = await remoteEngine(url, 'cards');
    const other = await remoteEngine(url, 'cards');
    expect(await engine.look()).toEqual({ card: null, tickets: [], workers: [] });
    expect(await engine.jobs()).toEqual([]);

    const now = Date.now();
    await engine.join(job(), workerCard('w1', now));
    await other.join(job(), workerCard('w2', now + 5_000));
    const { card, tickets, workers } = await engine.look();
    expect(card).toMatchObject({ name: 'cards', since: now, into: 'sqlite:x' });
    expect(tickets.map(({ account }) => account).sort()).toEqual(ids);
    expect(workers).toEqual([workerCard('w1', now), workerCard('w2', now + 5_000)]);
    expect(await other.look()).toEqual({ card, tickets: expect.anything(), workers });
    expect(await other.jobs()).toEqual(['cards']);

    // A sign of life takes the place of the one before.
    const sign = workerCard('w1', now + 6_000, {
      state: 'resting',
      why: 'full',
      accounts: ['101'],
    });
    await engine.keep([], sign);
    expect((await other.look()).workers).toEqual([sign, workerCard('w2', now + 5_000)]);
    await engine.gone('w1');
    expect((await other.look()).workers).toEqual([workerCard('w2', now + 5_000)]);
    await engine.close();
    await other.close();
  }));

test('pg-boss has accounts and nothing else, and hands out nothing else', () =>
  tally.run(async () => {
    const url = await database();
    const engine = await remoteEngine(url, 'cards');
    const now = Date.now();
    await engine.join(job(), workerCard('w1', now));
    expect(await keysIn(url)).toEqual(accountKeys);
    const turns = await engine.take(100);
    expect(turns.map(({ account }) => account).sort()).toEqual(ids);
    expect((await engine.keep(turns, workerCard('w1', now + 1))).sort()).toEqual(
      turns.map(({ id }) => id).sort(),
    );
    for (const turn of turns) expect(await engine.end(turn, blankNote, null)).toBe(true);
    expect(await keysIn(url)).toEqual(accountKeys);
    expect(await engine.take(100)).toEqual([]);
    await engine.close();
  }));

test('a worker with another job file is refused while others live, and goes by it once they are silent', () =>
  tally.run(async () => {
    const url = await database();
    const engine = await remoteEngine(url, 'cards');
    const other = await remoteEngine(url, 'cards');
    const now = Date.now();
    await engine.join(job(), workerCard('w1', now));
    const edited = job({ lookback: '1d', accounts: [{ id: '101' }, { id: '105' }] });
    await expect(other.join(edited, workerCard('w2', now + livingMs - 1))).rejects.toThrow(
      /^job_invalid: Workers of cards go by another job file than this one, with other lookback, accounts/,
    );
    expect((await engine.look()).workers).toHaveLength(1);

    await other.join(edited, workerCard('w2', now + livingMs));
    const { card, tickets } = await other.look();
    expect(card?.since).toBe(now);
    expect(tickets.map(({ account }) => account).sort()).toEqual(['101', '105']);

    // The first one comes back, and is told.
    await expect(engine.keep([], workerCard('w1', now + livingMs + 1))).rejects.toThrow(
      /^job_invalid: Other workers go by another job file by now/,
    );
    await engine.close();
    await other.close();
  }));

test('who was silent for ten minutes is forgotten with the next worker', () =>
  tally.run(async () => {
    const url = await database();
    const engine = await remoteEngine(url, 'cards');
    const now = Date.now();
    await engine.join(job(), workerCard('w1', now));
    await engine.join(job(), workerCard('w2', now + 10 * 60_000));
    expect((await engine.look()).workers).toHaveLength(2);
    await engine.join(job(), workerCard('w3', now + 10 * 60_000 + 1));
    expect((await engine.look()).workers.map(({ name }) => name)).toEqual(['w2', 'w3']);
    await engine.close();
  }));

test('a start that is killed leaves the job whole or not there, and two at once leave one', () =>
  tally.run(async () => {
    const url = await database();
    const now = Date.now();
    for (let round = 0; round < rounds(3, 40); round += 1) {
      await runSql(url, `DROP SCHEMA IF EXISTS ${engineSchema} CASCADE`);
      const killed = await remoteEngine(url, 'cards');
      const two = [await remoteEngine(url, 'cards'), await remoteEngine(url, 'cards')];
      const begun = killed.join(job(), workerCard('killed', now)).catch(() => null);
      await setTimeout(Math.random() * 60);
      killed.child.kill('SIGKILL');
      tally.happened('kills');
      await begun;
      const { card, tickets } = (await two[0]?.look()) ?? {};
      expect(tickets).toHaveLength(card === null ? 0 : ids.length);
      tally.happened(card === null ? 'not there' : 'whole');

      await Promise.all(two.map((engine, i) => engine.join(job(), workerCard(`w${i}`, now + i))));
      expect(await keysIn(url)).toEqual(accountKeys);
      expect((await two[0]?.look())?.workers.map(({ name }) => name)).toContain('w1');
      for (const engine of two) await engine.close();
    }
  }, 120_000));

test('cards of the first release are moved, with what is known of the accounts', () =>
  tally.run(async () => {
    const url = await database();
    const before = await remoteEngine(url, 'cards');
    const longAgo = Date.now() - 60_000;
    await before.join(job(), workerCard('w1', longAgo));
    const [done, aside] = await before.take(2);
    if (done === undefined || aside === undefined) throw new Error('no tickets');
    await before.end(done, { ...blankNote, calls: 7, whole: true }, null);
    expect(await before.fail(aside, trouble)).toBe('aside');
    const known = await before.look();
    await before.asBefore();
    await before.close();
    expect(await keysIn(url)).toEqual([...accountKeys, 'job', 'worker/w1']);

    const engine = await remoteEngine(url, 'cards');
    expect(await engine.jobs()).toEqual(['cards']);
    expect(await engine.look()).toEqual(known);
    expect(await keysIn(url)).toEqual(accountKeys);
    await engine.join(job(), workerCard('w2', Date.now()));
    const { card, tickets } = await engine.look();
    expect(card?.since).toBe(longAgo);
    expect(tickets.find(({ account }) => account === done.account)?.note.calls).toBe(7);
    expect(tickets.find(({ account }) => account === aside.account)?.state).toBe('aside');
    tally.happened('moved');
    await engine.close();
  }));

test('while workers of the first release are at work, this one is refused in words', () =>
  tally.run(async () => {
    const url = await database();
    const before = await remoteEngine(url, 'cards');
    await before.join(job(), workerCard('w1', Date.now()));
    await before.join(job(), workerCard('w2', Date.now() - livingMs));
    await before.asBefore();
    await expect(remoteEngine(url, 'cards')).rejects.toThrow(
      /^job_invalid: Workers of an earlier release are at work on cards: w1\./,
    );
    expect(await keysIn(url)).toEqual([...accountKeys, 'job', 'worker/w1', 'worker/w2']);
    await before.close();
  }));
