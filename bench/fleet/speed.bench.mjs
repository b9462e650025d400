// Records per second of 1, 2, 4 and 8 workers with one slot each, as processes over NATS, on a server that takes 300 ms for each page.
// Their start-up is left out. The machine should do nothing else.
import { limit } from '../figures.mjs';
import { startServer } from '../node-stream/run.mjs';
import { end, hasNats, planned, start } from './processes.mjs';

const parcelsOf = (workers) =>
  workers
    .flatMap(({ events }) =>
      events.filter(({ kind, outcome }) => kind === 'parcel' && outcome === 'committed'),
    )
    .sort((a, b) => a.at - b.at);

/** Records per second from when all are under way until the first one finds nothing more to do. */
async function speed(api, count) {
  const job = await planned(api, 8, 3_000);
  const workers = Array.from({ length: count }, () => start(job));
  await Promise.all(workers.map(({ gone }) => gone));
  await job.board.close();
  const all = parcelsOf(workers);
  const records = all.reduce((sum, event) => sum + event.records, 0);
  if (records !== job.plan.records) throw new Error(`${records} of ${job.plan.records} records`);
  const firsts = workers.map(
    ({ events }) => events.find(({ kind, outcome }) => kind === 'parcel' && outcome === 'committed').at,
  );
  const lasts = workers.map((worker) => parcelsOf([worker]).at(-1).at);
  const [begin, last] = [Math.max(...firsts), Math.min(...lasts)];
  const between = all.filter(({ at }) => at > begin && at <= last);
  return (between.reduce((sum, event) => sum + event.records, 0) * 1000) / (last - begin);
}

try {
  if (!hasNats) process.exit();
  const api = await startServer(18_000, 300);
  const speeds = new Map();
  for (const count of [1, 2, 4, 8]) {
    speeds.set(count, await speed(api, count));
    console.log(`${count} workers: ${speeds.get(count).toFixed(0)} records per second`);
  }
  api.close();
  limit('2 workers against 1', speeds.get(2) / speeds.get(1), { least: 1.9 });
  limit('4 workers against 1', speeds.get(4) / speeds.get(1), { least: 3.4 });
  limit('8 workers against 1', speeds.get(8) / speeds.get(1), { least: 5 });
} finally {
  await end();
}
