// Mistakes: wrong functions in the place of right ones. The simulator must find those of the reader,
// the lives of copies and exports those of syncs and exports by month. What lies inside of a function
// is planted in its text: mistakes.ts.

import type { Item } from '../../src/reader/list.ts';

type Allowed = typeof import('../../src/reader/allowed.ts');
type ByPages = typeof import('../../src/reader/by-pages.ts');
type Months = typeof import('../../src/months/export-months.ts');
type Plan = typeof import('../../src/sync/plan.ts');
type Proof = typeof import('../../src/proof.ts');
type Queues = typeof import('../../src/reader/queue.ts');
type AllRequests = typeof import('../../src/reader/requests.ts');
type AllSeen = typeof import('../../src/reader/seen.ts');
type Slices = typeof import('../../src/reader/slices.ts');
type State = typeof import('../../src/sync/state.ts');
type Sync = typeof import('../../src/sync/sync.ts');
type AllTotals = typeof import('../../src/totals.ts');
type Verdicts = typeof import('../../src/verdict.ts');

/** Puts functions in the place of those that a source file exports. */
export type Plant = <T>(file: string, wrong: (right: T) => Partial<T>) => void;

type Mistakes = Readonly<Record<string, (plant: Plant) => void>>;

/** Mistakes in the reader. */
export const readerMistakes: Mistakes = {
  'a full page is taken for the whole slice': (plant) =>
    plant<Allowed>('reader/allowed.ts', ({ begun }) => ({
      begun: (...of) => ({ ...begun(...of), isFull: false }),
    })),
  'a total is believed after the last page of its items': (plant) =>
    plant<Allowed>('reader/allowed.ts', ({ continued }) => ({
      continued: (...of) => ({ ...continued(...of), isFull: false }),
    })),
  'a server that ignores ranges is read on': (plant) =>
    plant<Allowed>('reader/allowed.ts', ({ allowed, judge }) => ({
      judge: (...of) => (judge(...of) === 'outside' ? 'full' : judge(...of)),
      allowed: (range, tries, limits) =>
        allowed(
          range,
          tries.map((one) => (one.judgement === 'outside' ? { ...one, judgement: 'full' } : one)),
          limits,
        ),
    })),
  'items just outside a range are an error': (plant) =>
    plant<Allowed>('reader/allowed.ts', ({ begun }) => ({
      begun: (answer, range, limits) => begun(answer, range, { ...limits, stray: 0 }),
    })),
  'a slice that never agrees is called proved': (plant) =>
    plant<Allowed>('reader/allowed.ts', ({ allowed }) => ({
      allowed(...of) {
        const may = allowed(...of);
        if (may.deliver?.why !== 'fewer') return may;
        const { items, total } = may.deliver;
        return { ...may, deliver: { items, total, is: 'proved' } };
      },
    })),
  'a slice that never agrees is tried without end': (plant) =>
    plant<Allowed>('reader/allowed.ts', ({ allowed }) => ({
      allowed(...of) {
        const may = allowed(...of);
        const isSpent = may.deliver?.why === 'fewer' || may.deliver?.why === 'unsteady';
        return isSpent ? { ...may, deliver: null, again: true } : may;
      },
    })),
  'what a slice brought that is not proved is lost': (plant) =>
    plant<Allowed>('reader/allowed.ts', ({ allowed }) => ({
      allowed(...of) {
        const may = allowed(...of);
        if (may.deliver === null || may.deliver.is === 'proved') return may;
        return { ...may, deliver: { ...may.deliver, items: [] } };
      },
    })),
  'ranges do not share their border': (plant) =>
    plant<Queues>('reader/queue.ts', ({ Queue }) => ({
      Queue: class<I extends Item> extends Queue<I> {
        override cut(...of: Parameters<InstanceType<typeof Queue<I>>['cut']>) {
          const parts = super.cut(...of);
          for (const part of parts.slice(1)) Object.assign(part, { from: (part.from ?? 0) + 1000 });
          return parts;
        }
      },
    })),
  'a doubled row is not told': (plant) =>
    plant<AllSeen>('reader/seen.ts', ({ Seen }) => ({
      Seen: class<I extends Item> extends Seen<I> {
        override sort(...of: Parameters<InstanceType<typeof Seen<I>>['sort']>) {
          const { fresh, shared, doubled } = super.sort(...of);
          return { fresh, shared: shared + doubled.length, doubled: [] };
        }
      },
    })),
  'what lies at a border is told as doubled': (plant) =>
    plant<AllSeen>('reader/seen.ts', ({ Seen }) => ({
      Seen: class<I extends Item> extends Seen<I> {
        override mayComeAgain(
          ...[item, range]: Parameters<InstanceType<typeof Seen<I>>['mayComeAgain']>
        ) {
          return this.borders.get(item.id) !== item.at && super.mayComeAgain(item, range);
        }
      },
    })),
  'the end of a border second is forgotten in checkpoints': (plant) =>
    plant<AllSeen>('reader/seen.ts', ({ Seen }) => ({
      Seen: class<I extends Item> extends Seen<I> {
        override keepBorder(
          ...[items, { from, to }]: Parameters<InstanceType<typeof Seen<I>>['keepBorder']>
        ) {
          super.keepBorder(items, { from, to: to === null ? null : to + 3000 });
        }
      },
    })),
  'the border of an earlier run is forgotten': (plant) =>
    plant<AllSeen>('reader/seen.ts', ({ Seen }) => ({
      Seen: class<I extends Item> extends Seen<I> {
        constructor(...[asked, { from, ...options }]: ConstructorParameters<typeof Seen<I>>) {
          const rest = from && { ...from, border: from.border.slice(1) };
          super(asked, { ...options, from: rest });
        }
      },
    })),
  'a request that failed counts as an empty list': (plant) =>
    plant<AllRequests>('reader/requests.ts', ({ Requests }) => ({
      Requests: class<I extends Item> extends Requests<I> {
        override ask(...of: Parameters<InstanceType<typeof Requests<I>>['ask']>) {
          return super.ask(...of).catch(() => ({ items: [], total: 0 }));
        }
      },
    })),
  'totals are asked for their worth': (plant) =>
    plant<AllRequests>('reader/requests.ts', ({ Requests }) => ({
      Requests: class<I extends Item> extends Requests<I> {
        override brought(): void {
          for (let i = 0; i < 1000; i += 1) super.brought();
        }
      },
    })),
  'a list without totals is called complete': (plant) =>
    plant<ByPages>('reader/by-pages.ts', ({ byPages }) => ({
      async *byPages(...of) {
        for await (const part of byPages(...of)) {
          const { why, ...rest } = part.stretch ?? { why: null };
          if (part.stretch === null || why !== 'no_total') yield part;
          else yield { ...part, stretch: { ...part.stretch, ...rest, is: 'proved' } };
        }
      },
    })),
  'the pages of an earlier run are read again': (plant) =>
    plant<ByPages>('reader/by-pages.ts', ({ byPages }) => ({
      byPages: (range, given, begun, ...of) =>
        byPages(range, given, begun && { ...begun, done: 0 }, ...of),
    })),
  'the last slice is left out': (plant) =>
    plant<Slices>('reader/slices.ts', ({ slices }) => ({
      async *slices(...of) {
        const held = [];
        let given = 0;
        for await (const slice of slices(...of)) {
          held.push(slice);
          if (held.length < 2) continue;
          given += 1;
          yield held.shift() as (typeof held)[number];
        }
        if (given < 4) yield* held;
      },
    })),
  'a checkpoint is a slice ahead': (plant) =>
    plant<Slices>('reader/slices.ts', ({ slices }) => ({
      async *slices(...of) {
        for await (const { stretches, ...slice } of slices(...of)) {
          const ahead = stretches?.map((one) => ({
            ...one,
            to: one.to === null ? null : one.to + 9000,
          }));
          yield { ...slice, stretches: ahead ?? null };
        }
      },
    })),
  'a total that is not there is not asked for': (plant) =>
    plant<AllTotals>('totals.ts', ({ Totals }) => ({
      Totals: class extends Totals {
        override async of({ total }: Parameters<InstanceType<typeof Totals>['of']>[0]) {
          return total;
        }
      },
    })),
  'one row is taken for all of a list': (plant) =>
    plant<AllTotals>('totals.ts', ({ Totals }) => ({
      Totals: class extends Totals {
        override of(...[page, rows]: Parameters<InstanceType<typeof Totals>['of']>) {
          return super.of(page, { ...rows, ofAll: async () => ({ rows: 1, total: 1 }) });
        }
      },
    })),
  'the count at the end is left out': (plant) =>
    plant<Proof>('proof.ts', () => ({
      recount: async (list, { isDue, seen }) =>
        list.map((one) => (one.is === 'proved' && isDue(one) ? { ...one, ...seen } : one)),
    })),
  'the first answer is forgotten': (plant) =>
    plant<Proof>('proof.ts', ({ verdictOf }) => ({
      verdictOf: (list, asked, more) => verdictOf(list, asked, { ...more, first: null }),
    })),
};

/** Mistakes in syncs. */
export const syncMistakes: Mistakes = {
  'what another run has read counts as read by this one': (plant) =>
    plant<State>('sync/state.ts', () => ({ latestRun: () => 0 })),
  'what is open at its end is never counted': (plant) =>
    plant<Proof>('proof.ts', ({ recount }) => ({
      recount: (list, { isDue, ...options }, count) =>
        recount(list, { ...options, isDue: (one) => one.to !== null && isDue(one) }, count),
    })),
  'a filter that is half read is compared by clocks': (plant) =>
    plant<State>('sync/state.ts', ({ withoutCovered }) => ({
      withoutCovered(parts) {
        const byClock = parts.map((part) => ({
          ...part,
          stretches: part.stretches.map((one) => ({ ...one, run: one.at ?? one.read ?? 0 })),
        }));
        const kept = withoutCovered(byClock);
        return parts.filter((_, i) => kept.includes(byClock[i] as (typeof byClock)[number]));
      },
    })),
  'a refused call is missing only in the next state': (plant) =>
    plant<Sync>('sync/sync.ts', ({ syncInto }) => ({
      syncInto(client, sink, options) {
        const late = {
          load: () => sink.load(),
          commit: (batch: Parameters<typeof sink.commit>[0]) =>
            sink.commit({ ...batch, stateWithout: () => batch.state }),
        };
        return syncInto(client, late, options);
      },
    })),
  'a refused call is not missing': (plant) =>
    plant<Proof>('proof.ts', () => ({ withLost: (list) => list })),
  'a count that fails is right': (plant) =>
    plant<Proof>('proof.ts', ({ recount, knownIn }) => ({
      recount: (list, options, count) =>
        recount(list, options, async (range) => (await count(range)) ?? knownIn(list, range)),
    })),
  'a count that differs is not believed': (plant) =>
    plant<Proof>('proof.ts', ({ recount }) => ({
      async recount(list, options, count) {
        const counted = await recount(list, options, count);
        return counted.map((one) =>
          one.why === 'rose' ? (list.find(({ from }) => from === one.from) ?? one) : one,
        );
      },
    })),
  'what may have changed is read by its clock alone': (plant) =>
    plant<Plan>('sync/plan.ts', () => ({ mayChange: ({ to }) => to === null })),
  'a period that was not read is not asked for': (plant) =>
    plant<Plan>('sync/plan.ts', ({ dueOf }) => ({
      dueOf: (part, asked, ages) => dueOf(part, asked, ages).slice(0, 3),
    })),
};

/** Mistakes in exports by month. */
export const exportMistakes: Mistakes = {
  'months that may have changed are kept': (plant) =>
    plant<Months>('months/export-months.ts', ({ exportMonths }) => ({
      exportMonths: (source, target, options) =>
        exportMonths(source, target, { ...options, since: 0 }),
    })),
  'a month that is not whole is kept': (plant) =>
    plant<Verdicts>('verdict.ts', () => ({ proofOf: () => 'whole' as const })),
};
