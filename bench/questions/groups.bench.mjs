// A report in which each call is a group of its own: `--by keyword,sid` over 20,000 different
// calls, as data. Only groups that exist are kept and written, so twice the calls take twice the
// time.
import { answerQuestion } from '@call-attribution/questions';
import { limit, median, timed } from '../figures.mjs';

const sizes = [10_000, 20_000, 40_000, 80_000];
const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 5);
const listOf = (size) =>
  Array.from({ length: size }, (_, i) => ({
    sid: `s${i}`,
    ppc_keywords: `keyword ${i}`,
    date_added: '2026-10-01 10:00:00',
    talk_minutes: '1.0',
    ani: `555555${String(i).padStart(5, '0')}`,
    channel: 'Tracker',
  }));

const used = new Map(sizes.map((size) => [size, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const size of sizes) {
    const calls = listOf(size);
    globalThis.gc?.();
    let rows = 0;
    const { cpu } = await timed(async () => {
      const measures = ['calls', 'share', 'talk_sum', 'talk_mean'];
      const answer = await answerQuestion(
        { groupBy: ['keyword', 'sid'], measures, limit: 1_000_000 },
        calls,
      );
      rows = JSON.stringify(answer.rows).length;
    });
    if (rows < size * 60) throw new Error('rows are missing');
    used.get(size)?.push(cpu);
  }
}
const of = (size) => median(used.get(size) ?? []);
for (const size of sizes)
  console.log(`${size} calls by keyword and sid: ${of(size).toFixed(0)} ms of CPU`);
limit('20,000 calls by keyword and sid: s of CPU', of(20_000) / 1000, { most: 2 });
limit('80,000 calls to four times 20,000', of(80_000) / of(20_000) / 4, { most: 1.3 });
