// CPU per record of every reader, in interleaved rounds: within a round all meet the same machine, so that each ratio is
// taken within its round and the median ratio is reported.
import { median, readOnce, startServer } from './run.mjs';

const n = 100_000;

/** Rounds over all readers; `only` picks some. Gives rows: name, CPU, records a second, RSS, ratio to the raw loop. */
export async function cpuRounds(names, rounds) {
  const server = await startServer(n);
  const runs = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      runs.get(name).push(await readOnce(name, server, n));
      process.stderr.write(`round ${round + 1}: ${name} ${runs.get(name).at(-1).cpu.toFixed(1)} us\n`);
    }
  }
  server.close();
  const raw = runs.get('raw');
  return names.map((name) => {
    const own = runs.get(name);
    return {
      name,
      cpu: median(own.map(({ cpu }) => cpu)),
      perSecond: median(own.map(({ wall }) => (n / wall) * 1000)),
      rss: median(own.map(({ rss }) => rss)),
      ratio: median(own.map(({ cpu }, round) => cpu / raw[round].cpu)),
    };
  });
}
