// Chains of operators over a list that grows, killed at any moment: the output is that of an oracle
// that has the whole list.
import fc from 'fast-check';
import {
  aggregate,
  type Chain,
  count,
  dedupe,
  defineOperator,
  filterCalls,
  join,
  mapCalls,
  max,
  type Operator,
  sessions,
  sum,
  through,
  topN,
  tumbling,
} from '../../src/operators/index.ts';
import type { Checkpoint, Stage } from '../../src/page.ts';
import { Paged } from '../paged.ts';

/** What goes through the chains: calls, and rows of windows and groups. */
export interface Item {
  readonly id: string;
  readonly time: string;
  readonly key: string | number | null;
  readonly n: number;
}

/** An operator, and what it does to a whole list. */
export interface Link {
  readonly name: string;
  readonly operator: () => Operator<Item, Item>;
  readonly oracle: (items: readonly Item[]) => readonly Item[];
}

const minute = 60_000;
const begin = Date.UTC(2024, 0, 1);
const monday = Date.UTC(1970, 0, 5);
const text = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');
const timeOf = ({ time }: Item): number => Date.parse(`${time.replace(' ', 'T')}Z`);
/** A row as an item again. */
const named = (row: object): Item => {
  const {
    from = text(begin),
    key = null,
    n = 0,
  } = row as { from?: string; key?: Item['key']; n?: number | null };
  return { id: JSON.stringify(row), time: from, key, n: n ?? 0 };
};

const composed = <M>(first: Operator<Item, M>, then: (item: M) => Item): Operator<Item, Item> => {
  const { begin, gives: _, ...shape } = first;
  return defineOperator({
    ...shape,
    name: `${first.kind} as items`,
    gives: 'other',
    begin(state, context) {
      const stage = begin(state, context);
      return {
        ...(stage.save === undefined ? {} : { save: () => stage.save?.() }),
        page: async (items, passed) => (await stage.page(items, passed)).map(then),
        end: async () => ((await stage.end?.()) ?? []).map(then),
      };
    },
  });
};

function grouped(items: readonly Item[], keyOf: (item: Item) => unknown): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = JSON.stringify(keyOf(item));
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()];
}

const by = ['key'] as const;
const total = (items: readonly Item[]): number => items.reduce((all, { n }) => all + n, 0);

const links: Record<string, fc.Arbitrary<Link>> = {
  map: fc.constantFrom(1, 3, 8).map((concurrency) => ({
    name: `map ${concurrency}`,
    operator: () =>
      mapCalls<Item, Item>(
        async (item) => {
          if (item.n % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
          return item.n % 5 === 0 ? null : { ...item, n: item.n + 1 };
        },
        { concurrency },
      ),
    oracle: (items) =>
      items.filter(({ n }) => n % 5 !== 0).map((item) => ({ ...item, n: item.n + 1 })),
  })),
  dedupe: fc.constant({
    name: 'dedupe',
    operator: () => dedupe<Item>({ key: 'key' }),
    oracle: (items) =>
      items.filter(
        ({ key }, at) => key === null || items.findIndex((item) => item.key === key) === at,
      ),
  }),
  filter: fc.integer({ min: 0, max: 10 }).map((least) => ({
    name: `filter ${least}`,
    operator: () => filterCalls<Item>(({ n }) => n >= least),
    oracle: (items) => items.filter(({ n }) => n >= least),
  })),
  pairs: fc.constant({
    name: 'pairs',
    operator: () =>
      defineOperator<Item, Item>({
        name: 'pairs',
        gives: 'other',
        begin(state) {
          let first = state as Item | null;
          return {
            page: (items) =>
              items.flatMap((item) => {
                const held = first;
                first = held === null ? item : null;
                return held === null ? [] : [{ ...held, n: held.n + item.n }];
              }),
            end: () => (first === null ? [] : [first]),
            save: () => first,
          };
        },
      }),
    oracle: (items: readonly Item[]) =>
      items.flatMap((item, i) =>
        i % 2 === 0 ? [{ ...item, n: item.n + (items[i + 1]?.n ?? 0) }] : [],
      ),
  }),
  tumbling: fc.integer({ min: 1, max: 40 }).map((size) => ({
    name: `tumbling ${size}`,
    operator: () =>
      composed(
        tumbling<{ n: ReturnType<typeof sum<Item>> }, 'key', Item>({
          size: size * minute,
          time: 'time',
          by,
          measures: { n: sum('n') },
        }),
        named,
      ),
    oracle(items) {
      const startOf = (item: Item) =>
        monday + Math.floor((timeOf(item) - monday) / (size * minute)) * size * minute;
      const windows = grouped(items, startOf).sort(
        (a, b) => startOf(a[0] as Item) - startOf(b[0] as Item),
      );
      return windows.flatMap((window) => {
        const from = startOf(window[0] as Item);
        return grouped(window, ({ key }) => key).map((group) =>
          named({
            from: text(from),
            to: text(from + size * minute),
            key: group[0]?.key,
            n: total(group),
          }),
        );
      });
    },
  })),
  sessions: fc.integer({ min: 1, max: 30 }).map((gap) => ({
    name: `sessions ${gap}`,
    operator: () =>
      composed(
        sessions<{ n: ReturnType<typeof count<Item>> }, 'key', Item>({
          gap: gap * minute,
          time: 'time',
          by,
          measures: { n: count() },
        }),
        named,
      ),
    oracle(items) {
      const found = grouped(items, ({ key }) => key).flatMap((group) => {
        const list: Item[][] = [];
        for (const item of [...group].sort((a, b) => timeOf(a) - timeOf(b))) {
          const last = list.at(-1)?.at(-1);
          if (last !== undefined && timeOf(item) - timeOf(last) < gap * minute)
            list.at(-1)?.push(item);
          else list.push([item]);
        }

        return list;
      });
      const end = (list: Item[]) => timeOf(list.at(-1) as Item);
      const start = (list: Item[]) => timeOf(list[0] as Item);
      const key = (list: Item[]) => JSON.stringify([list[0]?.key]);
      found.sort((a, b) => end(a) - end(b) || start(a) - start(b) || (key(a) < key(b) ? -1 : 1));
      return found.map((list) =>
        named({ from: text(start(list)), to: text(end(list)), key: list[0]?.key, n: list.length }),
      );
    },
  })),
  aggregate: fc.constant({
    name: 'aggregate',
    operator: () =>
      composed(
        aggregate<{ n: ReturnType<typeof max<Item>> }, 'key', Item>({
          by,
          measures: { n: max('n') },
        }),
        named,
      ),
    oracle: (items: readonly Item[]) =>
      grouped(items, ({ key }) => key).map((group) =>
        named({ key: group[0]?.key, n: Math.max(...group.map(({ n }) => n)) }),
      ),
  }),
  top: fc.integer({ min: 1, max: 6 }).map((most) => ({
    name: `top ${most}`,
    operator: () => topN<Item>({ count: most, by: 'n' }),
    oracle: (items) => [...items].sort((a, b) => b.n - a.n).slice(0, most),
  })),
  join: fc.constant({
    name: 'join',
    operator: () => {
      const table = [1, 2, null, null].map((key, row) => ({ key, row }));
      return composed(
        join<{ key: number | null; row: number }, 'found', Item>(table, { on: 'key', as: 'found' }),
        ({ found, ...item }) => ({ ...item, n: item.n + (found?.row ?? 10) }),
      );
    },
    oracle: (items: readonly Item[]) =>
      items.map((item) => ({
        ...item,
        n: item.n + (typeof item.key === 'number' ? item.key - 1 : 10),
      })),
  }),
};

/** Chains of one to four operators. */
export const chains = fc.array(fc.oneof(...Object.values(links)), { minLength: 1, maxLength: 4 });

/** A list in order of time. */
export const lists = fc
  .array(
    fc.record({
      after: fc.integer({ min: 0, max: 12 }),
      key: fc.constantFrom(1, 2, '1', 'a', null),
      n: fc.integer({ min: -5, max: 20 }),
    }),
    { maxLength: 60 },
  )
  .map((records) => {
    let at = begin;
    return records.map(({ after, key, n }, i): Item => {
      at += after * minute;
      return { id: `s${i}`, time: text(at), key, n };
    });
  });

/**
 * The list as a source of pages: it grows while it is read, and is read with the sizes of pages
 * that are given.
 */
export function growing(
  list: readonly Item[],
  sizes: readonly number[],
  grown: () => number,
): Paged<Item> {
  let page = 0;
  return new Paged((at) => {
    if (at >= list.length) return null;
    const end = Math.min(
      list.length,
      at + (sizes[page++ % sizes.length] ?? 1),
      Math.max(at + 1, grown()),
    );
    const to = list[end]?.time;
    return { items: list.slice(at, end), ...(to === undefined ? {} : { to }) };
  });
}

/** What is on the disk of a sink: its lines, and how many of them a position covers. */
export interface Disk {
  lines: string[];
  saved: { readonly length: number; readonly checkpoint: Checkpoint } | null;
  done: boolean;
}

export const emptyDisk = (): Disk => ({ lines: [], saved: null, done: false });

/**
 * Reads a chain into a disk, from where it was left; killed after so many steps. Every `every`th
 * position is saved.
 */
export async function runInto(
  disk: Disk,
  chain: Chain<Item>,
  kill: number,
  every: number,
): Promise<void> {
  const from = disk.saved === null ? null : structuredClone(JSON.parse(JSON.stringify(disk.saved)));
  disk.lines.length = from?.length ?? 0;
  let step = 0;
  for await (const page of chain.pages(from?.checkpoint ?? null)) {
    for (const item of page.items) {
      if (++step >= kill) return;
      disk.lines.push(JSON.stringify(item));
    }
    if (++step >= kill) return;
    if (step % every !== 0) continue;
    const { checkpoint } = page;
    disk.saved = JSON.parse(JSON.stringify({ length: disk.lines.length, checkpoint }));
  }

  disk.done = true;
}

/** One history: a chain over a list, killed some times, with other sizes of pages each time. */
export interface History {
  readonly list: readonly Item[];
  readonly chain: readonly Link[];
  readonly kills: readonly number[];
  readonly sizes: readonly (readonly number[])[];
  readonly every: number;
}

export const histories: fc.Arbitrary<History> = fc.record({
  list: lists,
  chain: chains,
  kills: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 }),
  sizes: fc.array(fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 4,
  }),
  every: fc.integer({ min: 1, max: 4 }),
});

/** The output of the operators over the history, and that of the oracle. */
export async function outcome(
  { list, chain, kills, sizes, every }: History,
  make: (link: Link) => Operator<Item, Item> = ({ operator }) => operator(),
): Promise<{ readonly found: readonly string[]; readonly expected: readonly string[] }> {
  const disk = emptyDisk();
  let grown = 0;
  for (const [run, kill] of [...kills, Number.POSITIVE_INFINITY].entries()) {
    const source = growing(list, sizes[run % sizes.length] ?? [1], () => (grown += 3));
    if (!disk.done)
      await runInto(
        disk,
        through(source, ...chain.map(make)) as Chain<Item>,
        kill,
        run === kills.length ? 1 : every,
      );
  }

  const expected = chain.reduce<readonly Item[]>((items, { oracle }) => oracle(items), list);
  return { found: disk.lines, expected: expected.map((item) => JSON.stringify(item)) };
}

/** The same operator with a mistake in what it saves or takes. */
export function broken(operator: Operator<Item, Item>, mistake: Mistake): Operator<Item, Item> {
  const { begin, ...shape } = operator;
  return defineOperator<Item, Item>({
    ...shape,
    name: operator.kind,
    begin: (state, context) => mistake(begin(state, context), (other) => begin(other, context)),
  });
}

type ItemStage = Stage<Item, Item>;
/** Makes a wrong stage of a right one. */
export type Mistake = (stage: ItemStage, again: (state: unknown) => ItemStage) => ItemStage;

/** Mistakes that the law has to find. */
export const mistakes: Readonly<Record<string, Mistake>> = {
  'keeps nothing': ({ save: _, ...stage }) => stage,
  'keeps what it had at the begin': (stage) => {
    const first = JSON.stringify(stage.save?.() ?? null);
    return { ...stage, save: () => JSON.parse(first) };
  },
  'forgets the end': ({ end: _, ...stage }) => stage,
  'takes the first item of a page twice': (stage) => ({
    ...stage,
    page: (items, passed) => stage.page([...items.slice(0, 1), ...items], passed),
  }),
  'leaves out the last item of a large page': (stage) => ({
    ...stage,
    page: (items, passed) => stage.page(items.length > 4 ? items.slice(0, -1) : items, passed),
  }),
  'turns a page around': (stage) => ({
    ...stage,
    page: (items, passed) => stage.page([...items].reverse(), passed),
  }),
  'gives at the end what it gave before': (stage) => {
    let last: readonly Item[] = [];
    return {
      ...stage,
      async page(items, passed) {
        last = await stage.page(items, passed);
        return last;
      },
      end: async () => [...last, ...((await stage.end?.()) ?? [])],
    };
  },
  'closes time too early': (stage) => ({
    ...stage,
    page: (items, passed) => stage.page(items, passed && { ...passed, to: '2030-01-01 00:00:00' }),
  }),
  'forgets what time has closed': (stage) => ({
    ...stage,
    page: async (items, passed) =>
      (await stage.page(items, passed)).slice(items.length === 0 ? 0 : 1),
  }),
  'begins again when it is saved': (stage, again) => {
    let now = stage;
    return {
      page: (items, passed) => now.page(items, passed),
      end: () => now.end?.() ?? [],
      save() {
        const state = now.save?.() ?? null;
        now = again(null);
        return state;
      },
    };
  },
};
