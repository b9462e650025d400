import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNats, type TestNats } from '@call-attribution/test-tools/nats';
import { newDatabase, runSql } from '@call-attribution/test-tools/postgres';
import { localhostTls } from '@call-attribution/test-tools/tls';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openBoard } from '../src/index.ts';
import { until } from './board-laws.ts';

/** What an address that cannot be used ends with. */
const refusal = async (url: string, options = {}): Promise<{ code: string; message: string }> => {
  const error = await openBoard(url, 'history', options).then(
    () => new Error('it was opened'),
    (cause) => cause,
  );
  return { code: error.code, message: error.message };
};

test.each(['', 'history', 'redis://n1', 'nats://', 'nats://n1/x', 'nats://n1,,n2', 'postgres://'])(
  'the address %j is refused',
  async (url) => {
    expect(await refusal(url)).toMatchObject({
      code: 'board_unfit',
      message: expect.stringContaining('must be'),
    });
  },
);

test('options are checked', async () => {
  await expect(openBoard('memory:', 'history', { replica: 3 } as never)).rejects.toThrow('replicas');
  await expect(openBoard('memory:', 'Not A Job')).rejects.toMatchObject({ code: 'job_invalid' });
});

test('a server that is not there is waited for, until the signal', async () => {
  const ending = new AbortController();
  const heard: string[] = [];
  const onWaiting = (...what: string[]) => {
    heard.push(...what);
    ending.abort(new Error('enough'));
  };
  const opening = openBoard('nats://user:secret@127.0.0.1:1', 'history', {
    signal: ending.signal,
    onWaiting,
  });
  await expect(opening).rejects.toThrow('enough');
  expect(heard).toEqual(['nats://127.0.0.1:1', 'it does not answer']);
});

/** What the README lists. */
const least = `publish: ["$KV.FLEET_history.>", "$JS.API.INFO", "$JS.API.STREAM.CREATE.KV_FLEET_history",
  "$JS.API.STREAM.INFO.KV_FLEET_history", "$JS.API.STREAM.MSG.GET.KV_FLEET_history",
  "$JS.API.CONSUMER.CREATE.KV_FLEET_history.>", "$JS.API.CONSUMER.DELETE.KV_FLEET_history.>", "$JS.FC.>"],
  subscribe: ["_INBOX.>"]`;

const users = `authorization { users: [
  { user: admin, password: secret }
  { user: least, password: secret, permissions: { ${least} } }
  { user: reader, password: secret, permissions: { ${least.replace('"$KV.FLEET_history.>", ', '')} } }
  { user: nothing, password: secret, permissions: { publish: ["foo"], subscribe: ["_INBOX.>"] } }
  { user: deaf, password: secret, permissions: { publish: [">"], subscribe: ["foo"] } }
] }`;

describe.each(inject('natsUrl') === '' ? [] : ['NATS'])('%s', () => {
  let nats: TestNats;
  const as = (user: string): string => nats.url.replace('//', `//${user}@`);
  beforeAll(async () => {
    nats = await startNats({ config: users });
  });
  afterAll(() => nats.close());

  test('a user needs no more permissions than the README lists', async () => {
    await using one = await openBoard(as('least:secret'), 'history');
    await using two = await openBoard(nats.url, 'history', {
      env: { NATS_USER: 'least', NATS_PASSWORD: 'secret' },
    });
    const first = await one.write('job', { state: 'running' }, 0);
    expect(await two.write('job', { state: 'paused' }, 0)).toBeNull();
    await one.write('job', { state: 'paused' }, first?.revision ?? 0);
    await until(two, () => (two.get('job')?.value as { state?: string } | undefined)?.state === 'paused');
    expect(one.name).toBe(nats.url);
  });

  test('credentials that are wrong are refused, and not shown', async () => {
    for (const url of [as('admin:wrong'), as('nobody:secret')])
      expect(await refusal(url)).toEqual({
        code: 'board_unfit',
        message: expect.stringContaining(`${nats.url} refuses the credentials.`),
      });
    expect(await refusal(nats.url, { env: {} })).toMatchObject({ code: 'board_unfit' });
    expect(await refusal(nats.url, { env: { NATS_CREDS: '/nowhere/secret.creds' } })).toMatchObject({
      code: 'board_unfit',
      message: expect.stringContaining('NATS_CREDS names cannot be read (ENOENT)'),
    });
  });

  test('a user without a permission learns which', async () => {
    const words = async (user: string) => (await refusal(as(`${user}:secret`))).message;
    expect(await words('nothing')).toContain('does not let this user publish to $JS.API.INFO.');
    expect(await words('deaf')).toContain('does not let this user subscribe to _INBOX.');
    await using reader = await openBoard(as('reader:secret'), 'history');
    await expect(reader.write('account.1', {}, 0)).rejects.toMatchObject({ code: 'board_unfit' });
  });

  test('a server that speaks no TLS is refused where it was asked for', async () => {
    expect(await refusal(as('admin:secret').replace('nats:', 'tls:'))).toMatchObject({
      code: 'board_unfit',
      message: expect.stringContaining('no encrypted connection'),
    });
  });

  test('the certificate of a server must be known', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'calls-tls-'));
    writeFileSync(join(folder, 'key.pem'), localhostTls.key);
    const secure = await startNats({
      config: `tls { cert_file: "${localhostTls.certFile}", key_file: "${folder}/key.pem" }`,
    });
    expect(await refusal(secure.url)).toMatchObject({
      code: 'board_unfit',
      message: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT'),
    });
    await using board = await openBoard(secure.url, 'history', { tls: { ca: localhostTls.cert } });
    expect(await board.write('job', {}, 0)).not.toBeNull();
    await board.close();
    await secure.close();
    rmSync(folder, { recursive: true });
  });

  test('more copies than there are servers, and a bucket with other settings, are refused', async () => {
    const url = as('admin:secret');
    const connection = await connect({ servers: nats.url, user: 'admin', pass: 'secret' });
    const manager = await jetstreamManager(connection);
    await manager.streams.add({
      name: 'KV_FLEET_other',
      subjects: ['$KV.FLEET_other.>'],
      max_age: 1e10,
      storage: 'memory',
    });
    await connection.close();
    await expect(openBoard(url, 'other')).rejects.toMatchObject({
      code: 'board_unfit',
      message: expect.stringMatching(/storage, .*max_age.*nats kv del FLEET_other/),
    });
    await expect(openBoard(url, 'three', { replicas: 3 })).rejects.toMatchObject({
      code: 'board_unfit',
      message: expect.stringContaining('Leave out replicas'),
    });
  });

  test('a server without JetStream is refused', async () => {
    const plain = await startNats({ jetStream: false });
    expect(await refusal(plain.url)).toEqual({
      code: 'board_unfit',
      message: expect.stringContaining('Start nats-server with -js'),
    });
    await plain.close();
  });

  test('a bucket whose entry was deleted with another program takes a new one', async () => {
    const url = as('admin:secret');
    await using board = await openBoard(url, 'cleaned');
    await board.write('worker.a', { beat: 1 }, 0);
    const connection = await connect({ servers: nats.url, user: 'admin', pass: 'secret' });
    await jetstreamManager(connection).then((manager) =>
      manager.jetstream().publish('$KV.FLEET_cleaned.worker.a'),
    );
    await connection.close();
    await until(board, () => board.get('worker.a') === undefined);
    expect(await board.write('worker.a', { beat: 2 }, 0)).toMatchObject({ value: { beat: 2 } });
  });
});

describe.each(inject('postgresUrl') === '' ? [] : ['PostgreSQL'])('%s', () => {
  test('a database that is not there is refused', async () => {
    const url = new URL(inject('postgresUrl'));
    url.pathname = '/nowhere';
    url.password = 'secret';
    const { code, message } = await refusal(url.href);
    expect(code).toBe('board_unfit');
    expect(message).toContain('has no such database');
    expect(message).not.toContain('secret');
  });

  test('a user who may not create the table is refused, and needs no right to create once it is there', async () => {
    const database = await newDatabase(inject('postgresUrl'));
    const user = `fleet_${process.pid}`;
    await runSql(database, `CREATE ROLE ${user} LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
    const url = database.replace('//calls@', `//${user}@`);
    expect(await refusal(url)).toMatchObject({
      code: 'board_unfit',
      message: expect.stringContaining('fleet_board'),
    });
    await (await openBoard(database, 'history')).close();
    await runSql(
      database,
      `GRANT SELECT, INSERT, UPDATE ON fleet_board TO ${user}; GRANT USAGE ON SEQUENCE fleet_board_revision TO ${user}`,
    );
    const board = await openBoard(url, 'history');
    expect(await board.write('job', {}, 0)).not.toBeNull();
    await board.close();
    await runSql(
      inject('postgresUrl'),
      `DROP DATABASE ${new URL(database).pathname.slice(1)} WITH (FORCE); `,
    );
    await runSql(inject('postgresUrl'), `DROP ROLE ${user}`);
  });

  test('connections that the server ends are made again', async () => {
    const database = await newDatabase(inject('postgresUrl'));
    const [one, two] = [await openBoard(database, 'history'), await openBoard(database, 'history')];
    let revision = 0;
    for (let round = 1; round <= 5; round += 1) {
      const written = one.write('job', { round }, revision);
      await runSql(
        database,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'call-attribution-fleet'",
      );
      const entry = await written;
      expect(entry?.value).toEqual({ round });
      revision = entry?.revision ?? 0;
    }
    await until(two, () => two.get('job')?.revision === revision);
    expect(two.get('job')?.value).toEqual({ round: 5 });
    await one.close();
    await two.close();
    await runSql(inject('postgresUrl'), `DROP DATABASE ${new URL(database).pathname.slice(1)} WITH (FORCE)`);
  });
});
