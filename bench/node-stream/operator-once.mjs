// One operator in one way over `n` records, alone in its process: `node operator-once.mjs
// <operator> <way> <n>`.
import { pagesOf } from './operator-records.mjs';
import { operators } from './operators.mjs';

const [operator, way, count] = process.argv.slice(2);
const run = operators[operator][way];
const n = Number(count);
let taken = 0;
const take = () => {
  taken += 1;
};
await run(pagesOf(100_000), take);
taken = 0;
const before = process.cpuUsage();
await run(pagesOf(n), take);
const { user, system } = process.cpuUsage(before);
process.send({ cpu: (user + system) / n, taken, rss: process.resourceUsage().maxRSS / 1024 });
process.disconnect();
