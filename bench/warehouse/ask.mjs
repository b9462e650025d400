// Asks the twelve questions of a warehouse in a process of its own, whose memory is then that of asking alone.
import { openWarehouse } from '@call-attribution/warehouse';
import { median } from '../figures.mjs';
import { questions } from './questions.mjs';

const [path, days, rounds] = process.argv.slice(2);
const warehouse = await openWarehouse(path, { create: false });
const times = {};
for (let round = 0; round < Number(rounds); round += 1) {
  for (const [name, question] of Object.entries(questions(Number(days)))) {
    const began = performance.now();
    const { calls } = await warehouse.analyze(question);
    if (calls === 0) throw new Error(`${name}: no calls`);
    times[name] = [...(times[name] ?? []), performance.now() - began];
  }
}
await warehouse.close();
const medians = Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
process.send({ medians, rss: process.resourceUsage().maxRSS * 1024 });
