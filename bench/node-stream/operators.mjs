// Each operator, the loop that one would write by hand, and the same in RxJS and iter-ops where
// they have it. All take the same pages of records and give what comes out to `take`.
import { readings } from './operator-records.mjs';

const hours = 6 * 3_600_000;

/** The beginning of the window of six hours. */
function windowOf({ date_added }) {
  const time = Date.parse(`${date_added.replace(' ', 'T')}Z`);
  return time - (time % hours);
}

/** Reads pages by a chain of ours. */
async function chained(pages, take, operator) {
  const { through } = await import('@call-attribution/node-stream');
  for await (const { items } of through(pages, operator).pages())
    for (const item of items) take(item);
}

async function rx(pages, take, ...operators) {
  const { from } = await import('rxjs');
  await from(readings(pages))
    .pipe(...operators)
    .forEach(take);
}

async function iterOps(pages, take, ...operators) {
  const { pipe } = await import('iter-ops');
  for (const item of pipe(readings(pages), ...operators)) take(item);
}

const shorten = ({ sid, date_added, talk_minutes }) => ({
  sid,
  date_added,
  minutes: Number(talk_minutes),
});
const isLong = ({ talk_minutes }) => Number(talk_minutes) >= 2;

/** Calls and minutes of each campaign. */
function counted(groups, { ppc_campaign: campaign, talk_minutes: minutes }) {
  const group = groups.get(campaign);
  if (group === undefined) groups.set(campaign, { campaign, calls: 1, minutes: Number(minutes) });
  else {
    group.calls += 1;
    group.minutes += Number(minutes);
  }

  return groups;
}

const measures = async () => {
  const { count, sum } = await import('@call-attribution/node-stream/operators');
  return { by: ['ppc_campaign'], measures: { calls: count(), minutes: sum('talk_minutes') } };
};

export const operators = {
  mapCalls: {
    async ours(pages, take) {
      const { mapCalls } = await import('@call-attribution/node-stream/operators');
      await chained(pages, take, mapCalls(shorten));
    },
    loop(pages, take) {
      for (const page of pages) for (const record of page) take(shorten(record));
    },
    async RxJS(pages, take) {
      const { map } = await import('rxjs');
      await rx(pages, take, map(shorten));
    },
    async 'iter-ops'(pages, take) {
      const { map } = await import('iter-ops');
      await iterOps(pages, take, map(shorten));
    },
  },
  filterCalls: {
    async ours(pages, take) {
      const { filterCalls } = await import('@call-attribution/node-stream/operators');
      await chained(pages, take, filterCalls('talk_minutes:[2 TO *]'));
    },
    loop(pages, take) {
      for (const page of pages) for (const record of page) if (isLong(record)) take(record);
    },
    async RxJS(pages, take) {
      const { filter } = await import('rxjs');
      await rx(pages, take, filter(isLong));
    },
    async 'iter-ops'(pages, take) {
      const { filter } = await import('iter-ops');
      await iterOps(pages, take, filter(isLong));
    },
  },
  dedupe: {
    async ours(pages, take) {
      const { dedupe } = await import('@call-attribution/node-stream/operators');
      await chained(pages, take, dedupe({ key: 'ani' }));
    },
    loop(pages, take) {
      const seen = new Set();
      for (const page of pages)
        for (const record of page) {
          if (seen.has(record.ani)) continue;
          seen.add(record.ani);
          take(record);
        }
    },
    async RxJS(pages, take) {
      const { distinct } = await import('rxjs');
      await rx(
        pages,
        take,
        distinct(({ ani }) => ani),
      );
    },
    async 'iter-ops'(pages, take) {
      const { distinct } = await import('iter-ops');
      await iterOps(
        pages,
        take,
        distinct(({ ani }) => ani),
      );
    },
  },
  aggregate: {
    async ours(pages, take) {
      const { aggregate } = await import('@call-attribution/node-stream/operators');
      await chained(pages, take, aggregate(await measures()));
    },
    loop(pages, take) {
      const groups = new Map();
      for (const page of pages) for (const record of page) counted(groups, record);
      for (const row of groups.values()) take(row);
    },
  },
  tumbling: {
    async ours(pages, take) {
      const { tumbling } = await import('@call-attribution/node-stream/operators');
      await chained(pages, take, tumbling({ size: '6h', ...(await measures()) }));
    },
    loop(pages, take) {
      let now = null;
      let groups = new Map();
      for (const page of pages)
        for (const record of page) {
          const from = windowOf(record);
          if (from !== now) {
            for (const row of groups.values()) take({ from: now, ...row });
            groups = new Map();
            now = from;
          }
          counted(groups, record);
        }

      for (const row of groups.values()) take({ from: now, ...row });
    },
  },
  topN: {
    async ours(pages, take) {
      const { topN } = await import('@call-attribution/node-stream/operators');
      await chained(pages, take, topN({ count: 10, by: 'talk_minutes' }));
    },
    loop(pages, take) {
      let best = [];
      for (const page of pages)
        for (const record of page) {
          best.push({ value: Number(record.talk_minutes), record });
          if (best.length > 200) best = best.sort((a, b) => b.value - a.value).slice(0, 10);
        }

      for (const { record } of best.sort((a, b) => b.value - a.value).slice(0, 10)) take(record);
    },
  },
  join: {
    async ours(pages, take) {
      const { filterCalls, join } = await import('@call-attribution/node-stream/operators');
      await chained(
        pages,
        take,
        join(shops, { on: 'ppc_campaign', key: 'campaign', as: 'shop' }),
        filterCalls(({ shop }) => shop !== null),
      );
    },
    loop(pages, take) {
      const table = new Map(shops.map((shop) => [shop.campaign, shop]));
      for (const page of pages)
        for (const record of page) {
          const shop = table.get(record.ppc_campaign);
          if (shop !== undefined) take({ ...record, shop });
        }
    },
  },
};

const shops = Array.from({ length: 20 }, (_, i) => ({
  campaign: `campaign ${i}`,
  city: `City ${i}`,
}));
