// Asks the twelve questions of a warehouse in a process of its own, whose memory is then that of asking alone.
import { openWarehouse } from '@call-attribution/warehouse';
import { median, timed } from '../figures.mjs';
import { others, questions } from './questions.mjs';

const [path, days, rounds] = process.argv.slice(2);
const warehouse = await openWarehouse(path, { create: false });

/** Asks questions in turn, and gives the median of the rounds for each. */
async function ask(list) {
  const taken = {};
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const [name, question] of Object.entries(list)) {
      const time = await timed(async () => {
        const { calls } = await warehouse.analyze(question);
        if (calls === 0) throw new Error(`${name}: no calls`);
      });
      taken[name] = [...(taken[name] ?? []), time];
    }
  }
  const middle = (times, of) => median(times.map((time) => time[of]));
  return Object.fromEntries(
    Object.entries(taken).map(([name, times]) => [
      name,
      { wall: middle(times, 'wall'), cpu: middle(times, 'cpu') },
    ]),
  );
}

const medians = await ask(questions(Number(days)));
const slower = await ask(others);
await warehouse.close();
process.send({ medians, others: slower, rss: process.resourceUsage().maxRSS * 1024 });
