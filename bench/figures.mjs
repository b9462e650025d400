// Figures of a bench: medians, and each figure beside what it should be. A bench prints; it never
// fails because of a figure.

/** The middle of a list of numbers. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Prints one figure with what it should be. */
export function limit(
  what,
  value,
  { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY },
) {
  const held = value >= least && value <= most;
  const bound = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `at most ${most}`;
  console.log(`${held ? 'held    ' : 'not held'}  ${what}: ${value.toFixed(2)} (${bound})`);
}

/** Milliseconds that `work` takes on the clock, and of CPU time in this process. */
export async function timed(work) {
  const cpu = process.cpuUsage();
  const began = performance.now();
  await work();
  const wall = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  return { wall, cpu: (user + system) / 1000 };
}
