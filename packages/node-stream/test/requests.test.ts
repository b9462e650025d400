import { expect, test } from 'vitest';
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
} from './laws/requests.ts';

// All cells, and many random lists, are in drills/requests.drill.ts.

const cells = Object.keys(rhythms).flatMap((rhythm, i) =>
  Object.keys(orders).map((order, j) => ({
    rhythm: rhythm as Rhythm,
    order: order as Order,
    period: Object.keys(periods)[(i + j) % 4] as Period,
    cap: (i + j) % 2 === 0 ? null : 20,
  })),
);

test.each(cells)(
  'a read takes at most two requests a page in order, three in none: $rhythm, $order, $period, capped at $cap',
  async ({ rhythm, ...cell }) => {
    const records = rhythms[rhythm](800);
    const { plain } = await readsWithin(records, mostPerPage(cell.order, rhythm), {
      ...cell,
      rows: 25,
    });
    expect(plain).toBeGreaterThan(30);
  },
);

test('so do reads of lists with any pace and any quiet times', async () => {
  for (let seed = 0; seed < 8; seed += 1) await readsAnyWithin(seed);
});
