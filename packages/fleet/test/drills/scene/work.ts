// A worker as a process of its own: `node work.mjs '{"board": ..., "job": ..., "keys": ..., "ttl": ...}'`.
import { createWorker, credentialsFrom, openBoard } from '../../../src/index.ts';

interface Orders {
  readonly board: string;
  readonly job: string;
  readonly keys: string;
  readonly name: string;
  readonly ttl: number;
  readonly slots: number;
  readonly scratch?: string;
}

const orders = JSON.parse(process.argv[2] ?? '') as Orders;
const leave = new AbortController();
process.once('SIGTERM', () => leave.abort());
const board = await openBoard(orders.board, orders.job);
const worker = createWorker({
  board,
  credentials: credentialsFrom({ folder: orders.keys }),
  name: orders.name,
  ttl: orders.ttl,
  slots: orders.slots,
  ...(orders.scratch === undefined ? {} : { scratch: orders.scratch }),
  // One line for each event: the drill counts them.
  onEvent: (event) => process.stdout.write(`${JSON.stringify(event)}\n`),
});
await worker.run(leave.signal);
await board.close();
