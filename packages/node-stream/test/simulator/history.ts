import { callAxis } from '../../src/calls/call-axis.ts';
import type { ReadState } from '../../src/reader/checkpoint.ts';
import { step } from '../../src/reader/plan.ts';
import type { PlanSettings } from '../../src/reader/state.ts';
import { type Dice, diceOf } from './dice.ts';
import { type ReadResult, type Reducer, simulateRead } from './read.ts';
import { type ModelRecord, ModelServer, type QueryBounds, type Traits } from './server.ts';

/** What a history is about; each has its own servers and moves. */
export const regimes = [
  'one page a slice',
  'several pages a slice',
  'one list',
  'replicas',
  'lagging totals',
  'no totals',
  'unstable order',
  'a ghost in the count',
  'ranges ignored',
  'the clock is changed',
  'cursors',
  'cursors without totals',
  'empty pages',
  'a cap',
  'late records',
] as const;

/** One of them. */
export type Regime = (typeof regimes)[number];

/** A history: what it is about, its chance, and how large it may get. Smaller ones are easier to read. */
export interface HistoryPlan {
  readonly seed: number;
  readonly regime: Regime;
  readonly records: number;
  readonly runs: number;
  /** The part of its moves that are made, and whether requests fail. */
  readonly unrest: number;
  readonly hasFaults: boolean;
}

/** The history of a seed, in full. */
export const planOf = (seed: number): HistoryPlan => ({
  seed,
  regime: regimes[seed % regimes.length] as Regime,
  ...{ records: 26, runs: 4, unrest: 1, hasFaults: true },
});

/** What came of a history. */
export interface History {
  readonly regime: Regime;
  readonly runs: readonly ReadResult[];
  readonly isComplete: boolean;
  /** What went wrong; empty for a sound reducer. */
  readonly violations: readonly string[];
}

const second = 1000;
const begin = Date.UTC(2026, 2, 1);
type Move = 'insert' | 'remove' | 'update';

/** Plays a history, or that of a seed: a list that moves, read in one or more runs, and what must hold of it. */
export function playHistory(of: number | HistoryPlan, reducer: Reducer = step): History {
  const plan = typeof of === 'number' ? planOf(of) : of;
  const { regime } = plan;
  const dice = diceOf(plan.seed);
  const world = makeWorld(plan, dice);
  const runs: ReadResult[] = [];
  let checkpoint: ReadState | null = null;
  const mostRuns = Math.min(plan.runs, dice.pick([1, 1, 2, 4]));
  do {
    const isLastRun = runs.length + 1 >= mostRuns;
    const stopAfter = isLastRun ? Number.POSITIVE_INFINITY : 1 + dice.below(world.initial.length + 1);
    const run = simulateRead(reducer, world.server, { ...world.script(), checkpoint, stopAfter }, dice);
    runs.push(run);
    // A checkpoint is stored as JSON.
    checkpoint = JSON.parse(JSON.stringify(run.checkpoint)) as ReadState;
    if (run.ended === 'stuck' || run.ended === 'endless') break;
    if (run.ended === 'failure' && run.failure?.kind !== 'request') break;
    if (run.ended === 'end') break;
  } while (runs.length < mostRuns + 20);
  return judge(regime, world, runs);
}

interface World {
  readonly server: ModelServer;
  readonly initial: readonly ModelRecord[];
  /** Records that were in the list all the time, in every state of it that was shown. */
  readonly must: ReadonlySet<string>;
  script(): { settings: PlanSettings; style: 'half-open' | 'closed' | null; tick: () => void };
}

function makeWorld({ regime, records: most, unrest, hasFaults }: HistoryPlan, dice: Dice): World {
  const isSevere = regime === 'several pages a slice' || regime === 'one list' || regime === 'unstable order';
  const faulty = traitsOf(regime, dice);
  const traits = hasFaults ? faulty : { ...faulty, failing: 0, misplacing: 0, whim: 0, emptyPages: 0 };
  const rows = isSevere ? 1 + dice.below(8) : 4 + dice.below(regime === 'the clock is changed' ? 3 : 12);
  const count = Math.min(most, dice.below(regime === 'a ghost in the count' ? 8 : isSevere ? 18 : 26));
  const unit = regime === 'the clock is changed' ? 600 : dice.pick([1, 1, 7, 3600]);
  const spread = isSevere
    ? dice.pick([1, 2, 20])
    : regime === 'the clock is changed'
      ? 30
      : dice.pick([3, 20, 60]);
  // Only where moves are of one kind are shifts between pages always seen; else each second holds less than a page.
  const perSecond = isSevere
    ? Number.POSITIVE_INFINITY
    : Math.max(1, Math.min(rows, traits.clamp, traits.cap) - 2);
  const sealed = begin + Math.floor(dice.pick([0, 0.5, 1.1]) * spread) * unit * second;
  const moves = movesOf(regime, isSevere, dice);
  const rate = moves.length === 0 ? 0 : unrest * dice.roll() * (isSevere ? 0.06 : 0.25);
  const bounds: QueryBounds = {
    lower: dice.chance(0.3) ? begin + dice.below(4) * unit * second : null,
    upper: dice.chance(0.3) ? begin + (spread - dice.below(3)) * unit * second : null,
  };
  const perTime = new Map<number, number>();
  let serial = 0;
  const newRecord = (least = begin): ModelRecord | null => {
    const instant = Math.max(least, begin + dice.below(spread) * unit * second);
    const inSecond = perTime.get(instant) ?? 0;
    if (inSecond >= perSecond) return null;
    perTime.set(instant, inSecond + 1);
    const sid = `${'anz'[dice.below(3)]}${serial++}`;
    return { sid, instant, time: 0, version: 1 };
  };
  const initial: ModelRecord[] = [];
  const server = new ModelServer([], traits, bounds, dice);
  for (let i = 0; i < count; i++) {
    const record = newRecord();
    if (record !== null) initial.push({ ...record, time: server.timeOf(record.instant) });
  }
  const begun = new ModelServer(initial, traits, bounds, dice);
  const must = new Set(initial.filter(({ instant }) => begun.covers(instant)).map(({ sid }) => sid));
  const move = (): void => {
    const kind = dice.pick(moves);
    const { records } = begun;
    if (kind === 'insert') {
      const record = newRecord(regime === 'late records' ? sealed : begin);
      if (record !== null) begun.insert({ ...record, time: begun.timeOf(record.instant) });
    } else if (records.length > 0) {
      const at = dice.pick([0, records.length - 1, dice.below(records.length)]);
      if (kind === 'remove') {
        must.delete((records[at] as ModelRecord).sid);
        begun.remove(at);
      } else begun.update(at);
    }
  };
  const settings: PlanSettings = {
    axis: callAxis,
    rows,
    slicePages:
      regime === 'one list' ? 0 : isSevere || regime === 'a ghost in the count' ? dice.pick([1, 2, 4]) : 1,
    tries: 5,
    sealedBefore: sealed,
    countBefore: sealed,
    horizon: begin + (spread + 60) * unit * second,
    lookahead: { pages: 1 + dice.below(6), bytes: dice.pick([1e6, 2500]) },
    lower: bounds.lower,
    upper: bounds.upper,
    hasExclusiveBound: false,
    keepsFirst: false,
    cap: Number.isFinite(traits.cap) ? traits.cap : undefined,
  };
  const known = dice.chance(0.3) ? (traits.exclusive === 'excluded' ? 'half-open' : 'closed') : null;
  return {
    server: begun,
    initial,
    must,
    script: () => ({
      // A later run may ask for other numbers of rows than the one it resumes.
      settings: dice.chance(0.2)
        ? { ...settings, rows: Math.max(rows, perSecondOf(perSecond) + 2) }
        : settings,
      style: known,
      tick: () => {
        if (rate > 0 && dice.chance(rate)) move();
      },
    }),
  };
}

const perSecondOf = (perSecond: number): number => (Number.isFinite(perSecond) ? perSecond : 4);

function traitsOf(regime: Regime, dice: Dice): Traits {
  const isClock = regime === 'the clock is changed';
  const isCursor = regime === 'cursors' || regime === 'cursors without totals' || regime === 'empty pages';
  const hasNoTotals =
    regime === 'no totals' || regime === 'cursors without totals' || regime === 'empty pages';
  const clamp = dice.chance(0.3) ? 3 + dice.below(6) : Number.POSITIVE_INFINITY;
  return {
    order: isClock
      ? dice.pick(['oldest', 'newest'] as const)
      : regime === 'unstable order'
        ? 'unstable'
        : dice.pick(['oldest', 'newest', 'arrival', 'scattered'] as const),
    clamp,
    whim: dice.chance(0.2) ? 0.1 : 0,
    exclusive: isClock ? 'excluded' : dice.pick(['excluded', 'refused', 'included'] as const),
    totals: hasNoTotals
      ? 'none'
      : regime === 'lagging totals'
        ? 'lagging'
        : regime === 'a ghost in the count'
          ? 'ghost'
          : 'true',
    replicaLag: regime === 'replicas' ? 3 : 0,
    ignoresRanges: regime === 'ranges ignored',
    failing: dice.chance(0.2) ? 0.03 : 0,
    misplacing: dice.chance(0.2) ? 0.05 : 0,
    onward: isCursor ? 'cursors' : 'numbers',
    emptyPages: regime === 'empty pages' ? 0.3 : 0,
    cap: regime === 'a cap' ? 6 + dice.below(12) : Number.POSITIVE_INFINITY,
    showsCap: regime === 'a cap' && dice.chance(0.5),
    clockChange: isClock
      ? { at: begin + (8 + dice.below(12)) * 600 * second, by: dice.pick([-3600e3, 3600e3, 3600e3]) }
      : null,
  };
}

function movesOf(regime: Regime, isSevere: boolean, dice: Dice): Move[] {
  if (regime === 'unstable order' || regime === 'the clock is changed') return [];
  // Records that come late push others on: some come twice, and none is missed.
  if (regime === 'no totals' || regime === 'late records') return ['insert'];
  if (regime === 'a ghost in the count' || regime === 'ranges ignored') return [];
  if (isSevere) return [dice.pick<Move>(['insert', 'remove', 'update'])];
  return ['insert', 'remove', 'update'];
}

function judge(regime: Regime, { server, must, initial }: World, runs: readonly ReadResult[]): History {
  const last = runs.at(-1) as ReadResult;
  const violations = runs.flatMap((run) => run.violations);
  const { checkpoint, ended, failure } = last;
  const isWhole =
    checkpoint.done.length === 1 && checkpoint.done.every(({ from, to }) => from === null && to === null);
  const isComplete = ended === 'end' && !checkpoint.isUnproven;
  if (ended === 'stuck') violations.push('the read waits for nothing');
  if (ended === 'endless') violations.push('the read asks without end');
  if (ended === 'end' && !isWhole) violations.push('the slices do not cover the query');
  const isUnprovable =
    regime === 'no totals' || regime === 'cursors without totals' || regime === 'empty pages';
  if (ended === 'end' && isUnprovable && isComplete && initial.length > 0)
    violations.push('complete without a total');
  // What cannot be proved is delivered all the same.
  if (isComplete || (ended === 'end' && isUnprovable)) {
    const taken = new Set(runs.flatMap((run) => run.taken.map(({ sid }) => sid)));
    const lost = [...must].filter((sid) => !taken.has(sid) && !server.hidden.has(sid));
    if (lost.length > 0) violations.push(`ended, but ${lost.join(', ')} lost`);
  }
  if (failure?.kind === 'ranges_ignored' && regime !== 'ranges ignored')
    violations.push('a server that filters is said to ignore ranges');
  if (regime === 'one page a slice' && failure?.kind === 'incomplete' && server.traits.misplacing === 0)
    violations.push('one page a slice, and yet incomplete');
  // Records go out again in a later run only when their slice moved while it was read, and a run has said so.
  const handedOut = new Set<string>();
  let isDisclosed = false;
  for (const run of runs) {
    isDisclosed ||= run.rereads.length > 0;
    for (const { sid, version, time } of run.taken) {
      const key = `${sid} ${version}`;
      if (handedOut.has(key) && !isDisclosed && !server.isAstray(time))
        violations.push(`${key} was delivered again after a resume`);
      handedOut.add(key);
    }
  }
  return { regime, runs, isComplete, violations: server.isMisleading ? [] : violations };
}
