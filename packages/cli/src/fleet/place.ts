import { resolve } from 'node:path';
import type { Board, Job } from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { CliError, Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { refusePassword, storeUrl } from '../stores/url.ts';
import { whileWaiting } from '../term/waiting.ts';

/** The job that was typed: by its name, or by its file. */
export interface TypedJob {
  readonly name: string;
  /** What its file says; null when only the name was typed. */
  readonly job: Job | null;
}

/** Milliseconds that a task other than work waits for a board. */
const patience = 30_000;

/** The job of the command line. A word that can be a name is one; anything else is the path of a file. */
export async function typedJob(args: Args, io: Io): Promise<TypedJob> {
  const word = args.words[0] ?? '';
  if (/^[a-z0-9-]{1,40}$/.test(word)) return { name: word, job: null };
  const { readJob } = await import('@call-attribution/fleet');
  const job = await readJob(resolve(io.cwd, word));
  return { name: job.name, job };
}

/** The URL of the board that was typed or is in the environment; null when there is none. */
export function boardUrl(args: Args, io: Io): string | null {
  const typed = args.text('board');
  if (typed !== null) refusePassword(typed, '--board');
  return typed ?? (io.env.CALLS_FLEET_BOARD || null);
}

/** Is it a board that only this process sees? */
export const isOwnBoard = (url: string): boolean => url.startsWith('memory:');

/** Opens the board that others see as well. */
export async function openSharedBoard(args: Args, io: Io, job: string): Promise<Board> {
  const url = boardUrl(args, io);
  if (url === null) {
    throw new UsageError(`calls ${args.command} needs a board: --board nats://host, or CALLS_FLEET_BOARD`, {
      hints: [
        'or --board postgres://user@host/name, with the password in PGPASSWORD',
        'calls fleet work JOB.json needs none: it plans and does the whole job in one process',
      ],
    });
  }
  const board = await openBoardAt(url, job, args, io);
  if (!isOwnBoard(url) || (args.command !== 'fleet plan' && board.get('job') !== undefined)) return board;
  await board.close();
  throw new UsageError(`calls ${args.command}: the board ${url} is seen by one process only`, {
    hints: ['calls fleet work JOB.json --board memory: plans the job and does it, in one process'],
  });
}

/** Opens a board. `work` waits for one that does not answer; other tasks give up after half a minute. */
export async function openBoardAt(url: string, job: string, args: Args, io: Io): Promise<Board> {
  const { BoardMemory, memoryBoard, openBoard } = await import('@call-attribution/fleet');
  // Nobody else can name it.
  if (url === 'memory:') return memoryBoard(new BoardMemory());
  const waits = args.command === 'fleet work' || (args.has('watch') && args.flag('watch'));
  const limit = waits ? null : AbortSignal.timeout(patience);
  const replicas = args.has('replicas') ? args.integer('replicas', { min: 1, max: 5 }) : null;
  let silent: string | null = null;
  try {
    return await whileWaiting(null, () =>
      openBoard(storeUrl(url, io), job, {
        env: io.env,
        signal: limit === null ? io.signal : AbortSignal.any([io.signal, limit]),
        onWaiting: (name, why) => {
          silent = name;
          const reason = why.startsWith('it ') ? `${name} ${why.slice(3)}` : why;
          say(io, `${reason.replace(/\.$/, '')}; waiting (Ctrl-C ends)`);
        },
        ...(replicas === null ? {} : { replicas }),
      }),
    );
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted();
    if (!limit?.aborted) throw error;
    throw new CliError(`${silent ?? 'the board'} did not answer within ${patience / 1000} s`, {
      exitCode: exitCodes.unreachable,
      hints: ['check the address of --board (CALLS_FLEET_BOARD), and that the server runs'],
      cause: error,
    });
  }
}
