import {
  checkOptions,
  group,
  kinds,
  type OptionKind,
  type OptionShape,
  whole,
  wrongOption,
} from '@call-attribution/core/errors';
import { FleetError } from '../errors.ts';
import type { Board } from './board.ts';
import { BoardMemory, memoryBoard } from './memory-board.ts';

/** How a board is opened. Options of another kind of board have no effect. */
export interface BoardOptions {
  /** NATS: servers that keep a copy of the board, when it is created. Default 3 in a cluster of three or more, else 1. */
  readonly replicas?: number | undefined;
  /** NATS: the content of a credentials file (`.creds`). Default: the file that `NATS_CREDS` names. */
  readonly credentials?: Uint8Array | undefined;
  /** Certificates in PEM, for a server that does not have one of a public authority, or asks for one. */
  readonly tls?: BoardTls | undefined;
  /** Where `NATS_USER`, `NATS_PASSWORD`, `NATS_TOKEN` and `NATS_CREDS` are looked up. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Ends the wait for a server that does not answer. */
  readonly signal?: AbortSignal | undefined;
  /** Called once a server has not answered for 2 seconds, with the name of the board; opening goes on waiting. */
  readonly onWaiting?: ((name: string) => void) | undefined;
}

/** Certificates of a connection. */
export interface BoardTls {
  /** Authorities that may have signed the certificate of the server. */
  readonly ca?: string | undefined;
  /** The certificate of this client. */
  readonly cert?: string | undefined;
  /** The key of this client. */
  readonly key?: string | undefined;
}

const shape = {
  replicas: whole(1),
  credentials: { expected: 'bytes', accepts: (value) => value instanceof Uint8Array },
  tls: group({ ca: kinds.string, cert: kinds.string, key: kinds.string }),
  env: kinds.anything,
  signal: kinds.signal,
  onWaiting: kinds.callback,
} satisfies OptionShape & Record<keyof BoardOptions, OptionKind>;

const urlKind: OptionKind = {
  expected: 'a string such as nats://host, postgres://user@host/database or memory:',
  accepts: kinds.string.accepts,
};

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
  if (!urlKind.accepts(url)) throw wrongOption('url', urlKind, url);
  checkOptions(options, shape);
  if (!/^[a-z0-9-]{1,40}$/.test(job))
    throw new FleetError('job_invalid', 'The name of a job is 1 to 40 of a-z, 0-9 and hyphens.');
  options.signal?.throwIfAborted();
  if (url.startsWith('memory:')) {
    const place = `${url} ${job}`;
    const memory = memories.get(place) ?? new BoardMemory();
    memories.set(place, memory);
    return memoryBoard(memory);
  }
  throw new FleetError(
    'board_unfit',
    'The board must be nats://host, postgres://user@host/database or memory:.',
  );
}
