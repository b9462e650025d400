import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { startNats, type TestNats } from '@call-attribution/test-tools/nats';
import { newDatabase, runSql } from '@call-attribution/test-tools/postgres';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { type Board, openBoard } from '../../src/index.ts';
import { countUp, race } from '../board-laws.ts';

const clients = 8;
const races = rounds(150, 5_000);

/** A server of its own for each kind, and its address. */
const kinds: Record<string, () => Promise<string>> = {};
const servers: TestNats[] = [];
const nats = (nodes: 1 | 3) => async () => {
  const started = await startNats({ nodes });
  servers.push(started);
  return started.url;
};
if (inject('natsUrl') !== '')
  Object.assign(kinds, { 'one NATS server': nats(1), 'three NATS servers': nats(3) });
let database = '';
if (inject('postgresUrl') !== '')
  kinds.PostgreSQL = async () => {
    database = await newDatabase(inject('postgresUrl'));
    return database;
  };

afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  if (database !== '')
    await runSql(inject('postgresUrl'), `DROP DATABASE ${new URL(database).pathname.slice(1)} WITH (FORCE)`);
});

describe.each(Object.entries(kinds))('a board on %s', (kind, start) => {
  const tally = openDrill({
    name: `board-races-${kind.replaceAll(' ', '-').toLowerCase()}`,
    kind: 'random histories',
    what: `${clients} clients race for one entry of a board; each race has one winner, and the entry is the winner's`,
  });
  test(`${clients} clients race ${races} times`, async () => {
    const url = await start();
    const boards = await Promise.all(Array.from({ length: clients }, () => openBoard(url, 'races')));
    await tally.run(async () => {
      const { doubles } = await race(boards, races);
      tally.happened('races', races);
      tally.add({ doubled: doubles });
      const { won, found } = await countUp(boards, Math.ceil(races / clients));
      tally.happened('writes', won);
      tally.add({ lost: Math.max(0, won - found), lied: Math.max(0, found - won) });
      expect({ doubles, won }).toEqual({ doubles: 0, won: found });
    }, 280_000);
    await Promise.all(boards.map((board) => board.close()));
  });

  test('boards that are opened at once, while those before them write, are all ready', async () => {
    const url = await start();
    const opened = rounds(4, 200);
    for (let job = 0; job < opened; job += 1) {
      const ending = new AbortController();
      setMaxListeners(0, ending.signal);
      const late = setTimeout(() => ending.abort(new Error('A board was not ready in 20 seconds.')), 20_000);
      const writing: Promise<void>[] = [];
      const boards = await Promise.all(
        Array.from({ length: 5 }, async () => {
          const board = await openBoard(url, `opened-${job}`, { signal: ending.signal });
          for (let key = 0; key < 3; key += 1) writing.push(overwrite(board, `rates.${key}`, ending.signal));
          return board;
        }),
      );
      clearTimeout(late);
      ending.abort();
      await Promise.all(writing);
      await Promise.all(boards.map((board) => board.close()));
    }
  });
});

/** Writes without a pause at first, and then so often that the server is never idle for long. */
async function overwrite(board: Board, key: string, signal: AbortSignal): Promise<void> {
  for (let i = 0; !signal.aborted; i += 1) {
    await board.write(key, i, board.get(key)?.revision ?? 0);
    await sleep(i < 20 ? 1 : 500, undefined, { signal }).catch(() => undefined);
  }
}
