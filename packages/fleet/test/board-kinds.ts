import { newDatabase, runSql } from '@call-attribution/test-tools/postgres';
import { afterAll, inject } from 'vitest';
import { type Board, BoardMemory, memoryBoard, openBoard } from '../src/index.ts';

/** A kind of board that this machine has. */
export interface BoardKind {
  readonly kind: string;
  /** Makes the board of a new job; each call of the result opens it once more. All are closed when the file is done. */
  newBoard(): Promise<() => Promise<Board>>;
}

let jobs = 0;
const newJob = (): string => {
  jobs += 1;
  return `law-${process.pid}-${jobs}-${Math.random().toString(36).slice(2, 8)}`;
};

/** Boards on the servers that test files share. */
export function boardKinds(): BoardKind[] {
  const opened: Board[] = [];
  afterAll(() => Promise.all(opened.map((board) => board.close())));
  const kept = (open: () => Promise<Board>) => async () => {
    const board = await open();
    opened.push(board);
    return board;
  };
  const memory: BoardKind = {
    kind: 'memory',
    async newBoard() {
      const entries = new BoardMemory();
      return kept(async () => memoryBoard(entries));
    },
  };
  const [natsUrl, postgresUrl] = [inject('natsUrl'), inject('postgresUrl')];
  const nats: BoardKind = {
    kind: 'NATS',
    async newBoard() {
      const job = newJob();
      return kept(() => openBoard(natsUrl, job));
    },
  };
  let database: Promise<string> | undefined;
  afterAll(async () => {
    if (database === undefined) return;
    const { pathname } = new URL(await database);
    await runSql(postgresUrl, `DROP DATABASE IF EXISTS ${pathname.slice(1)} WITH (FORCE)`);
  });
  const postgres: BoardKind = {
    kind: 'PostgreSQL',
    async newBoard() {
      database ??= newDatabase(postgresUrl);
      const [url, job] = [await database, newJob()];
      return kept(() => openBoard(url, job));
    },
  };
  return [memory, ...(natsUrl === '' ? [] : [nats]), ...(postgresUrl === '' ? [] : [postgres])];
}
