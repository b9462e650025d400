// Asks the twelve questions of a warehouse in a process of its own, whose memory is then that of asking alone.
import { openWarehouse } from '@call-attribution/warehouse';
import { median, timed } from '../figures.mjs';
import { others, questions } from './questions.mjs';

const [path, days, rounds] = process.argv.slice(2);
const warehouse = await openWarehouse(path, { create: false });

/** Does things in turn, and gives the median of the rounds for each. */
async function measure(jobs) {
  const taken = {};
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const [name, job] of Object.entries(jobs)) {
      const time = await timed(async () => {
        if ((await job()) === 0) throw new Error(`${name}: no calls`);
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

const asking = (list) =>
  Object.fromEntries(
    Object.entries(list).map(([name, question]) => [
      name,
      async () => (await warehouse.analyze(question)).calls,
    ]),
  );
const page = (number) => async () => {
  let count = 0;
  const query = { where: 'talk_minutes >= 0.3', limit: 100, offset: number * 100 };
  for await (const _ of warehouse.calls(query)) count += 1;
  return count;
};

const medians = await measure(asking(questions(Number(days))));
const memory = () => process.resourceUsage().maxRSS * 1024;
const rss = memory();
const slower = await measure({ ...asking(others), 'page 0 of 100 calls': page(0), 'page 5,000': page(5000) });
await warehouse.close();
process.send({ medians, others: slower, rss, rssOfAll: memory() });
