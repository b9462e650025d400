// Asks questions of a store as programs ask them. Run by itself, with a store and a question, it
// says by how many MB the process grew.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openStore } from '@call-attribution/store';

export async function askStore(store, question) {
  const { answer } = await store.ask(question, { accounts: ['101'] });
  return question.groupBy === undefined ? [answer.calls] : answer.rows.map((row) => row.calls);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const store = await openStore(process.argv[2]);
  await store.count('101');
  const before = process.memoryUsage.rss();
  await askStore(store, JSON.parse(process.argv[3]));
  const most = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
  console.log((most - before) / 1e6);
  await store.close();
}
