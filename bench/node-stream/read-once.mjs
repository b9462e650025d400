// One reader over one server, alone in its process, once to warm up and once to be measured:
// `node read-once.mjs <reader> <url> <expected> <prefetch>`.
import { readers } from './readers.mjs';

const [name, url, expected, prefetch] = process.argv.slice(2);
const read = readers[name];
let records = 0;
let check = 0;
const take = (record) => {
  records += 1;
  check += record.sid.length;
};
await read({ url: `${url}/warm`, take, prefetch: Number(prefetch) });
records = 0;
const began = performance.now();
const before = process.cpuUsage();
await read({ url, take, prefetch: Number(prefetch) });
const cpu = process.cpuUsage(before);
const wall = performance.now() - began;
if (records !== Number(expected) || check === 0)
  throw new Error(`${name} gave ${records} records of ${expected}`);
process.send?.({ cpu: cpu.user + cpu.system, wall, rss: process.resourceUsage().maxRSS / 1024 });
process.disconnect?.();
