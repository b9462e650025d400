// Mistakes in syncs and exports by month: wrong functions in the place of right ones. The lives of
// copies and exports must find each of them.

type Proof = typeof import('../../src/proof.ts');
type Verdicts = typeof import('../../src/verdict.ts');
type Plan = typeof import('../../src/sync/plan.ts');
type State = typeof import('../../src/sync/state.ts');
type Sync = typeof import('../../src/sync/sync.ts');
type Months = typeof import('../../src/months/export-months.ts');

/** Puts functions in the place of those that a source file exports. */
export type Plant = <T>(file: string, wrong: (right: T) => Partial<T>) => void;

type Mistakes = Readonly<Record<string, (plant: Plant) => void>>;

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
