import { checkOption, option } from '@call-attribution/core/options';
import { FleetError } from '../errors.ts';
import type { Board } from './board.ts';
import { type BoardOptions, boardOptions } from './board-options.ts';
import { BoardMemory, memoryBoard } from './memory-board.ts';

const urlKind = option
  .string()
  .expecting('a string such as nats://host, postgres://user@host/database or memory:');

/** Boards in memory that were opened by name; they live as long as the process. */
const memories = new Map<string, BoardMemory>();

/**
 * Opens the board of a job: `nats://host,host,host`, `postgres://user@host/database`, or `memory:` for a job that this process
 * alone works on. Waits for a server that does not answer; a server that cannot be used is refused with `board_unfit`.
 *
 * @example
 * const board = await openBoard('nats://n1,n2,n3', 'history');
 * board.get('job')?.value;
 */
export async function openBoard(url: string, job: string, options: BoardOptions = {}): Promise<Board> {
  checkOption('url', urlKind, url);
  boardOptions.check(options);
  if (!/^[a-z0-9-]{1,40}$/.test(job))
    throw new FleetError('job_invalid', 'The name of a job is 1 to 40 of a-z, 0-9 and hyphens.');
  options.signal?.throwIfAborted();
  if (url.startsWith('memory:')) {
    const place = `${url} ${job}`;
    const memory = memories.get(place) ?? new BoardMemory();
    memories.set(place, memory);
    return memoryBoard(memory);
  }
  if (/^(?:nats|tls):\/\//.test(url)) return (await import('./nats-board.ts')).natsBoard(url, job, options);
  if (/^postgres(?:ql)?:\/\//.test(url))
    return (await import('./postgres-board.ts')).postgresBoard(url, job, options);
  throw new FleetError(
    'board_unfit',
    'The board must be nats://host, postgres://user@host/database or memory:.',
  );
}
