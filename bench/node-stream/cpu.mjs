// CPU per record of every reader, in interleaved rounds: within a round all meet the same machine,
// so that each ratio is taken within its round and the median ratio is reported.
import { median, readOnce, startServer } from './run.mjs';

const n = 100_000;

/**
 * Rounds over readers, each with a number of pages that it may hold ahead. Gives rows: name, CPU,
 * records a second, RSS, the ratio to the raw loop, and the ratio to any other row.
 */
export async function cpuRounds(ways, rounds) {
  const server = await startServer(n);
  const runs = new Map(ways.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, reader, prefetch } of ways) {
      runs.get(name).push(await readOnce(reader, server, n, { prefetch }));
      process.stderr.write(
        `round ${round + 1}: ${name} ${runs.get(name).at(-1).cpu.toFixed(1)} us\n`,
      );
    }
  }

  server.close();
  return ways.map(({ name }) => {
    const own = runs.get(name);
    const ratioTo = (other) =>
      median(own.map(({ cpu }, round) => cpu / runs.get(other)[round].cpu));
    return {
      name,
      cpu: median(own.map(({ cpu }) => cpu)),
      rss: median(own.map(({ rss }) => rss)),
      ratio: ratioTo('raw'),
      ratioTo,
    };
  });
}
