import { setTimeout } from 'node:timers/promises';
import {
  createWorker,
  credentialsFrom,
  type Engine,
  FleetError,
  memoryEngine,
  openPostgresEngine,
  openTarget,
  readJob,
} from '../../../src/index.ts';

// A worker in a process of its own. It says what it does, a line of JSON each, and ends by itself.
const orders: { engine: string | null; job: string; keys: string; name: string; slots: number } =
  JSON.parse(process.argv[2] ?? '{}');
const job = await readJob(orders.job);
/** An engine that does not answer is waited for, as `calls fleet work` does. */
async function engineAt(url: string): Promise<Engine> {
  for (;;) {
    try {
      return await openPostgresEngine(url, { job: job.name });
    } catch (error) {
      if (!(error instanceof FleetError) || error.code !== 'engine_unavailable') throw error;
      await setTimeout(200);
    }
  }
}
const engine = orders.engine === null ? memoryEngine() : await engineAt(orders.engine);
process.stdout.write(`${JSON.stringify({ kind: 'open' })}\n`);
const target = await openTarget(job.into);
const worker = createWorker({
  job,
  engine,
  target,
  credentials: credentialsFrom({ folder: orders.keys, onWarning: () => {} }),
  name: orders.name,
  slots: orders.slots,
  onEvent: (event) => process.stdout.write(`${JSON.stringify(event)}\n`),
});
process.on('SIGTERM', () => worker.leave(60_000));
const { reason } = await worker.run();
process.stdout.write(`${JSON.stringify({ kind: 'end', reason })}\n`);
await target.close();
await engine.close();
