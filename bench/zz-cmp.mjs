import { createAnswers } from '@call-attribution/questions';
import { everything, openStore } from '@call-attribution/store';
import { calls } from '/work/wt/engine/bench/calls.mjs';
import { timed, median } from '/work/wt/engine/bench/figures.mjs';
import { questions, others } from '/work/wt/engine/bench/questions/questions.mjs';
import { existsSync } from 'node:fs';
const size = Number(process.argv[2] ?? 100000);
const rounds = Number(process.argv[3] ?? 5);
const only = process.argv[4];
const file = process.argv[5];
const has = existsSync(file);
const store = await openStore(`sqlite:${file}`);
if (!has) { await store.putAccount({ id: '101', name: 'bench' }); await store.upsert('101', calls(0, size)); }
const all = { ...questions(Math.floor((730 * size) / 7300000 * 0 + 730*size/10_000_000)), ...others, 'all: first-time':{measures:['first_time_callers']}, 'all: reached': {measures:['reached_within(24)']} };
const start = process.memoryUsage.rss(); let most = start;
const used = {};
for (let r = 0; r < rounds; r++) for (const [name, q] of Object.entries(all)) {
  if (only && !name.includes(only)) continue;
  globalThis.gc?.();
  const sel = (p) => ({ ...everything, ...(p.from === null ? {} : { from: p.from / 1000 }), ...(p.to === null ? {} : { to: p.to / 1000 }) });
  const running = createAnswers([q]);
  const { fields, period } = running.needs;
  let n = 0;
  const read = await timed(async () => { for await (const b of store.columns('101', sel(period), fields)) n += b.length; });
  const full = await timed(async () => { await running.addAll(store.columns('101', sel(period), fields), '101'); running.answers(); });
  most = Math.max(most, process.memoryUsage.rss());
  (used[name] ??= []).push([read.cpu, full.cpu, n, fields.length]);
}
for (const [name, l] of Object.entries(used)) console.log(name.padEnd(52), 'read', median(l.map(x=>x[0])).toFixed(0).padStart(5), 'all', median(l.map(x=>x[1])).toFixed(0).padStart(5), 'calls', l[0][2], 'fields', l[0][3]);
console.log('memory', ((most-start)/1e6).toFixed(0));
await store.close();
