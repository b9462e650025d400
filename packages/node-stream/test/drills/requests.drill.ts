import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { test } from 'vitest';
import {
  mostPerPage,
  type Order,
  orders,
  type Period,
  periods,
  type Rhythm,
  readsAnyWithin,
  readsWithin,
  rhythms,
} from '../laws/requests.ts';

const tally = openDrill({
  name: 'requests',
  kind: 'random histories',
  what: 'Lists with quiet years, bursts and any pace are read before servers that list the oldest or the newest first or in no order, and cap their pages; each read is whole, with at most two requests a page in order and three in none',
});

const count = rounds(2000, 8000);
const kinds = Object.keys(rhythms).flatMap((rhythm) =>
  Object.keys(orders).map((order) => ({ rhythm: rhythm as Rhythm, order: order as Order })),
);

test.each(kinds)('$rhythm, $order', { timeout: 600_000 }, async ({ rhythm, order }) => {
  const records = rhythms[rhythm](count);
  const found: string[] = [];
  for (const cap of [null, 20])
    for (const period of Object.keys(periods) as Period[]) {
      const cell = { order, period, rows: 50, cap };
      const { requests, plain } = await tally.run(() =>
        readsWithin(records, mostPerPage(order, rhythm), cell),
      );
      found.push(`${requests}/${plain}`);
    }

  // Whole pages and capped ones, each for the four periods: requests beside plain pages.
  process.stdout.write(`${`${rhythm}, ${order}`.padEnd(34)} ${found.join('  ')}\n`);
});

const random = rounds(120, 5000);
test(`${random} lists with any pace and any quiet times`, { timeout: 3_600_000 }, async () => {
  for (let seed = 0; seed < random; seed += 1) await tally.run(() => readsAnyWithin(seed));
});
