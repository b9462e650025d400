// One worker as a process of its own: the URL of the board, the name of the job, the folder of keys, slots and TTL.
import { createWorker, credentialsFrom, openBoard } from '@call-attribution/fleet';

const [url, job, keys, slots, ttl] = process.argv.slice(2);
const board = await openBoard(url, job);
const worker = createWorker({
  ...{ board, credentials: credentialsFrom({ folder: keys }), slots: Number(slots), ttl },
  onEvent: (event) => process.send?.({ ...event, at: Date.now() }),
});
const summary = await worker.run();
process.send?.({ kind: 'end', summary });
await board.close();
process.disconnect();
