// Times functions against each other: batches of about 4 ms of CPU time, taken in turns, so that
// what else the machine does meets all alike. The figure is the median of the batches.
/**
 * @param {Record<string, (index: number) => unknown>} subjects
 * @param {number} [rounds]
 * @returns {Record<string, number>} nanoseconds of CPU time for one call
 */
export function measure(subjects, rounds = 31) {
  const names = Object.keys(subjects);

  /** @type {Record<string, { calls: number, times: number[] }>} */
  const state = {};
  for (const name of names) {
    let calls = 16;
    // Warm up until the batch is long enough to be timed; the optimising compiler is done by then.
    for (let grown = 0; grown < 6; ) {
      const time = batch(subjects[name], calls);
      if (time < 4e6) calls *= 2;
      else grown++;
    }
    state[name] = { calls, times: [] };
  }

  for (let round = 0; round < rounds; round++) {
    for (const name of names)
      state[name].times.push(batch(subjects[name], state[name].calls) / state[name].calls);
  }

  return Object.fromEntries(names.map((name) => [name, median(state[name].times)]));
}

/** @param {number[]} values */
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

// Read by nobody, so that no call can be left out as useless.
export let sink = 0;

/** @param {(index: number) => unknown} subject @param {number} calls */
function batch(subject, calls) {
  const before = process.cpuUsage();
  for (let index = 0; index < calls; index++) if (subject(index)) sink++;
  const { user, system } = process.cpuUsage(before);
  return (user + system) * 1000;
}
