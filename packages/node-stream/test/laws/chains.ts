// Chains of operators over a list that grows, killed at any moment: the output is that of an oracle that has the whole list.
import fc from 'fast-check';
import {
  aggregate,
  type Chain,
  type ChainCheckpoint,
  count,
  dedupe,
  defineOperator,
  each,
  join,
  mapCalls,
  max,
  type Operator,
  type PagedSource,
  sessions,
  sum,
  through,
  topN,
  tumbling,
} from '../../src/operators/index.ts';

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

const composed = <M>(first: Operator<Item, M>, then: (item: M) => Item): Operator<Item, Item> =>
  defineOperator({
    name: `${first.kind} as items`,
    settings: first.settings,
    begin(state, context) {
      const step = first.begin(state, context);
      const items = (given: unknown): readonly Item[] => (given as readonly M[]).map(then);
      return {
        ...(step.save === undefined ? {} : { save: () => step.save?.() }),
        take: (some) => items(step.take(some)),
        end: async () => items((await step.end?.()) ?? []),
        passed(before) {
          const { out, before: after } = step.passed?.(before) ?? { out: [], before };
          return { out: items(out), before: after };
        },
      };
    },
  });

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
    oracle: (items) => items.filter(({ n }) => n % 5 !== 0).map((item) => ({ ...item, n: item.n + 1 })),
  })),
  dedupe: fc.constantFrom(1, 3, 1000).map((capacity) => ({
    name: `dedupe ${capacity}`,
    operator: () => dedupe<Item>({ key: 'key', capacity }),
    oracle(items) {
      const seen: unknown[] = [];
      return items.filter(({ key }) => {
        if (key === null) return true;
        if (seen.includes(key)) return false;
        seen.push(key);
        if (seen.length > capacity) seen.shift();
        return true;
      });
    },
  })),
  tumbling: fc.integer({ min: 1, max: 40 }).map((size) => ({
    name: `tumbling ${size}`,
    operator: () =>
      composed(
        tumbling<{ n: ReturnType<typeof sum<Item>> }, 'key', Item>({
          ...{ size: size * minute, time: 'time', by, origin: text(begin), onLate: 'fail' },
          measures: { n: sum('n') },
        }),
        named,
      ),
    oracle(items) {
      const startOf = (item: Item) =>
        begin + Math.floor((timeOf(item) - begin) / (size * minute)) * size * minute;
      const windows = grouped(items, startOf).sort((a, b) => startOf(a[0] as Item) - startOf(b[0] as Item));
      return windows.flatMap((window) => {
        const from = startOf(window[0] as Item);
        return grouped(window, ({ key }) => key).map((group) =>
          named({ from: text(from), to: text(from + size * minute), key: group[0]?.key, n: total(group) }),
        );
      });
    },
  })),
  sessions: fc.integer({ min: 1, max: 30 }).map((gap) => ({
    name: `sessions ${gap}`,
    operator: () =>
      composed(
        sessions<{ n: ReturnType<typeof count<Item>> }, 'key', Item>({
          ...{ gap: gap * minute, time: 'time', by },
          measures: { n: count() },
        }),
        named,
      ),
    oracle(items) {
      const found = grouped(items, ({ key }) => key).flatMap((group) => {
        const list: Item[][] = [];
        for (const item of [...group].sort((a, b) => timeOf(a) - timeOf(b))) {
          const last = list.at(-1)?.at(-1);
          if (last !== undefined && timeOf(item) - timeOf(last) < gap * minute) list.at(-1)?.push(item);
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
        aggregate<{ n: ReturnType<typeof max<Item>> }, 'key', Item>({ by, measures: { n: max('n') } }),
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
      const table = [1, 2, 2, null].map((key, row) => ({ key, row }));
      const merge = (item: Item, found: { row: number } | undefined): Item => ({
        ...item,
        n: item.n + (found?.row ?? 0),
      });
      return join<{ key: number | null; row: number }, Item, Item>(table, { on: 'key', rows: 'many', merge });
    },
    oracle: (items: readonly Item[]) =>
      items.flatMap((item) => {
        const rows = item.key === 1 ? [0] : item.key === 2 ? [1, 2] : [0];
        return rows.map((row) => ({ ...item, n: item.n + row }));
      }),
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

/** The list as a source of pages: it grows while it is read, and is read with the sizes of pages that are given. */
export function growing(
  list: readonly Item[],
  sizes: readonly number[],
  grown: () => number,
): PagedSource<Item> {
  return {
    hasTime: true,
    async *pages({ checkpoint } = {}) {
      let at = (checkpoint as { at?: number } | null)?.at ?? 0;
      for (let page = 0; at < list.length; page += 1) {
        const end = Math.min(list.length, at + (sizes[page % sizes.length] ?? 1), Math.max(at + 1, grown()));
        const items = list.slice(at, end);
        at = end;
        const next = list[at];
        yield {
          items,
          checkpoint: { at },
          ...(next === undefined ? {} : { slice: { to: next.time }, isLast: true }),
        };
      }
    },
  };
}

/** What is on the disk of a sink: its lines, and how many of them a position covers. */
export interface Disk {
  lines: string[];
  saved: { readonly length: number; readonly checkpoint: ChainCheckpoint } | null;
  done: boolean;
}

export const emptyDisk = (): Disk => ({ lines: [], saved: null, done: false });

/** Reads a chain into a disk, from where it was left; killed after so many steps. Every `every`th position is saved. */
export async function runInto(disk: Disk, chain: Chain<Item>, kill: number, every: number): Promise<void> {
  const from = disk.saved === null ? null : structuredClone(JSON.parse(JSON.stringify(disk.saved)));
  disk.lines.length = from?.length ?? 0;
  let step = 0;
  for await (const page of chain.pages({ checkpoint: from?.checkpoint ?? null })) {
    for (const item of page.items) {
      if (++step >= kill) return;
      disk.lines.push(JSON.stringify(item));
    }
    if (++step >= kill) return;
    if (step % every !== 0) continue;
    const { checkpoint } = page;
    if (checkpoint !== null)
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
  return defineOperator<Item, Item>({
    name: operator.kind,
    settings: operator.settings,
    begin: (state, context) =>
      mistake(operator.begin(state, context), (other) => operator.begin(other, context)),
  });
}

type ItemStep = ReturnType<Operator<Item, Item>['begin']>;
/** Makes a wrong step of a right one. */
export type Mistake = (step: ItemStep, again: (state: unknown) => ItemStep) => ItemStep;

/** Mistakes that the law has to find. */
export const mistakes: Readonly<Record<string, Mistake>> = {
  'keeps nothing': ({ save: _, ...step }) => step,
  'keeps what it had at the begin': (step) => {
    const first = JSON.stringify(step.save?.() ?? null);
    return { ...step, save: () => JSON.parse(first) };
  },
  'forgets the end': ({ end: _, ...step }) => step,
  'takes the first item of a batch twice': (step) => ({
    ...step,
    take: (items) => step.take(items.length > 2 ? [...items.slice(0, 1), ...items] : items),
  }),
  'leaves out the last item of a large batch': (step) => ({
    ...step,
    take: (items) => step.take(items.length > 4 ? items.slice(0, -1) : items),
  }),
  'turns a batch around': (step) => ({ ...step, take: (items) => step.take([...items].reverse()) }),
  'gives at the end what it gave before': (step) => {
    let last: readonly Item[] = [];
    return {
      ...step,
      take: each((item, out) => {
        const given = step.take([item]);
        // What comes late is lost.
        if (given instanceof Promise) given.catch(() => {});
        last = Array.isArray(given) ? given : last;
        out.push(...last);
      }),
      end: async () => [...last, ...((await step.end?.()) ?? [])],
    };
  },
  'closes time too early': (step) => ({
    ...step,
    passed: () => step.passed?.('2030-01-01 00:00:00') ?? { out: [], before: null },
  }),
  'forgets what time has closed': (step) => ({
    ...step,
    passed(before) {
      const { before: after } = step.passed?.(before) ?? { before };
      return { out: [], before: after };
    },
  }),
  'begins again when it is saved': (step, again) => {
    let now = step;
    return {
      take: (items) => now.take(items),
      end: () => now.end?.() ?? [],
      save() {
        const state = now.save?.() ?? null;
        now = again(null);
        return state;
      },
    };
  },
};
