import type { Checkpoint } from '../../src/page.ts';
import type { Range } from '../../src/proof.ts';
import type { ReadingOptions } from '../../src/reading.ts';
import type { Verdict } from '../../src/verdict.ts';
import { type Dice, diceOf } from './dice.ts';
import * as sound from './reader.ts';
import {
  Endless,
  type ModelItem,
  ModelNetwork,
  type ModelRecord,
  ModelServer,
  type Traits,
} from './server.ts';

/** What a history is about, with what is special about its server and how its list moves. */
const cases = {
  'one page a slice': {},
  'a full second': { perSecond: 30 },
  replicas: { traits: { replicaLag: 3 } },
  'lagging totals': { traits: { totals: 'lagging' } },
  'no totals': { traits: { totals: 'none' }, moves: ['insert'] },
  'unstable order': { traits: { order: 'unstable' }, perSecond: 30, moves: [] },
  'a ghost in the count': { traits: { totals: 'ghost' }, moves: [] },
  'totals of the page': { traits: { totals: 'page' }, moves: [] },
  'huge totals': { traits: { totals: 'huge' }, moves: [] },
  'ranges ignored': { traits: { ignoresRanges: true }, moves: [] },
  'the clock is put on': { clock: 3600e3, moves: [] },
  'the clock is put back': { clock: -3600e3, moves: [] },
  'fractions of seconds': { traits: { hasFractions: true } },
  cursors: { traits: { onward: 'cursors' } },
  'cursors without totals': { traits: { onward: 'cursors', totals: 'none' }, moves: ['insert'] },
  'empty pages': {
    traits: { onward: 'cursors', totals: 'none', emptyPages: 0.3 },
    moves: ['insert'],
  },
  'capped rows': { clamps: true },
  'pages repeated': { traits: { repeatsPages: true }, perSecond: 12 },
  'rows doubled': { traits: { doubles: 0.1 }, moves: [] },
  'rows doubled and counted once': {
    traits: { doubles: 0.1, countsOnce: true, clamp: Number.POSITIVE_INFINITY, whim: 0 },
    moves: [],
  },
  'totals that stop at a number': { traits: { totals: 'capped' }, perSecond: 40, moves: [] },
  'no total on the last page': { traits: { totals: 'notOnLast' } },
  'totals dropped now and then': { traits: { dropping: 0.15 } },
  'a call at two times': { twins: true, moves: [] },
  'a first answer that counts more': { traits: { countsMoreAtFirst: true }, moves: [] },
  'a calm list': { moves: [] },
  'records removed': { moves: ['remove'] },
  'late records': { moves: ['insert'], isLate: true },
  'quiet times': { isLong: true },
  'quiet times and huge totals': { isLong: true, traits: { totals: 'huge' }, moves: [] },
} satisfies Record<string, Case>;

interface Case {
  readonly traits?: Partial<Traits>;
  readonly perSecond?: number;
  readonly moves?: readonly Move[];
  readonly clock?: number;
  readonly clamps?: boolean;
  readonly isLate?: boolean;
  readonly twins?: boolean;
  /** Many pages, and years without a call between some of them. */
  readonly isLong?: boolean;
}

/** One of them. */
export type Regime = keyof typeof cases;

/** All of them. */
export const regimes = Object.keys(cases) as readonly Regime[];

/**
 * A history: what it is about, its chance, and how large it may get. Smaller ones are easier to
 * read.
 */
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
  records: 60,
  runs: 4,
  unrest: 1,
  hasFaults: true,
});

/** What came of a history. */
export interface History {
  readonly verdict: Verdict<number> | null;
  /** Why the last run failed. */
  readonly failure: unknown;
  readonly requests: number;
  /** What went wrong; empty for a sound reader. */
  readonly violations: readonly string[];
}

/** The reader under test, or one with a mistake planted in it. */
export type Reader = typeof sound;

const second = 1000;
const begin = Date.UTC(2026, 2, 1);
type Move = 'insert' | 'remove' | 'update';

interface World {
  readonly server: ModelServer;
  readonly asked: Range;
  readonly rows: number;
  readonly until: number;
  /** Records that were in the list all the time, in every state of it that was shown. */
  readonly must: ReadonlySet<string>;
  /** All that ever were. */
  readonly may: ReadonlySet<string>;
  /** Sids that stand for two records. */
  readonly twins: ReadonlySet<string>;
  /** Nothing moves, and no answer is wrong for once. */
  readonly isCalm: boolean;
  /** What moves can not make up for each other in a count. */
  readonly isOneWay: boolean;
  tick(): void;
}

/**
 * Plays a history, or that of a seed: a list that moves, read in one or more runs, and what must
 * hold of it.
 */
export async function playHistory(
  of: number | HistoryPlan,
  reader: Reader = sound,
): Promise<History> {
  const plan = typeof of === 'number' ? planOf(of) : of;
  const dice = diceOf(plan.seed);
  const world = makeWorld(plan, dice);
  const { server } = world;
  const violations: string[] = [];
  const taken: { run: number; record: ModelRecord }[] = [];
  const mostRuns = Math.min(plan.runs, dice.pick([1, 1, 2, 4]));
  let checkpoint: Checkpoint | null = null;
  let verdict: Verdict<number> | null = null;
  let failure: unknown = null;
  let requests = 0;
  let isOneRun = true;
  for (let run = 1; verdict === null && run < 25; run += 1) {
    const misplaced = (cause: unknown) => new reader.Misplaced('', { cause });
    const network = new ModelNetwork(
      server,
      dice,
      () => world.tick(),
      misplaced,
      new reader.Totals(),
    );
    const stopAfter = run >= mostRuns ? Number.POSITIVE_INFINITY : 1 + dice.below(4);
    const reading = new reader.Reading(optionsOf(world, network, dice, checkpoint));
    failure = null;
    let pages = 0;
    try {
      for await (const page of reading.pages()) {
        for (const record of page.items) taken.push({ run, record });
        // A checkpoint is stored as JSON.
        checkpoint = JSON.parse(JSON.stringify(page.checkpoint)) as Checkpoint;
        pages += 1;
        if (pages === stopAfter) break;
      }
      if (pages !== stopAfter) verdict = reading.verdict();
    } catch (error) {
      failure = error;
      if (error instanceof Endless) violations.push('the read asks without end');
      if (!(error instanceof Error) || error.message !== 'connection lost') break;
    }
    requests += network.requests;
    if (verdict === null) isOneRun = false;
  }

  judge(world, { taken, verdict, failure, isOneRun }, violations);
  return { verdict, failure, requests, violations };
}

function optionsOf(
  { server, asked, rows, until }: World,
  source: ModelNetwork,
  dice: Dice,
  checkpoint: Checkpoint | null,
): ReadingOptions<ModelItem, ModelRecord> {
  return {
    source,
    of: 'a model',
    asked,
    spanOf: null,
    until: server.traits.clockChange === null ? until : null,
    *take({ items }) {
      for (const { record } of items) yield record;
      return 0;
    },
    count: (range, signal) => source.count(range, signal),
    // A later run may ask for other numbers of rows than the one it resumes.
    rows: dice.chance(0.2) ? rows + 3 : rows,
    stray: 3600e3,
    step: second,
    ahead: 1 + dice.below(5),
    checkpoint,
    signal: null,
    onProgress: undefined,
  };
}

function makeWorld({ regime, records: most, unrest, hasFaults }: HistoryPlan, dice: Dice): World {
  const {
    traits: special = {},
    perSecond = 3,
    moves = ['insert', 'remove', 'update'],
    ...of
  }: Case = cases[regime];
  const unit = of.clock === undefined ? dice.pick([1, 1, 7, 3600]) : 600;
  const spread = of.clock === undefined ? dice.pick(perSecond > 3 ? [1, 2, 20] : [3, 20, 60]) : 30;
  const change = {
    at: begin + (8 + dice.below(12)) * 600 * second,
    by: of.clock ?? 0,
    reads: dice.pick(['earlier', 'later'] as const),
  };
  const traits: Traits = {
    order: dice.pick(['oldest', 'oldest', 'newest', 'arrival', 'scattered'] as const),
    clamp: of.clamps || dice.chance(0.2) ? 3 + dice.below(6) : Number.POSITIVE_INFINITY,
    whim: hasFaults && dice.chance(0.2) ? 0.1 : 0,
    totals: 'true',
    replicaLag: 0,
    ignoresRanges: false,
    failing: hasFaults && dice.chance(0.2) ? 0.03 : 0,
    misplacing: hasFaults && dice.chance(0.2) ? 0.05 : 0,
    onward: 'numbers',
    emptyPages: 0,
    repeatsPages: false,
    doubles: 0,
    countsOnce: false,
    // More than a page: nothing tells a list that fits from one whose total is that of its page.
    cap: 19 + dice.below(10),
    dropping: 0,
    countsMoreAtFirst: false,
    hasFractions: false,
    clockChange: of.clock === undefined ? null : change,
    ...special,
  };
  const rows = of.isLong ? 3 + dice.below(4) : 4 + dice.below(12);
  const until = begin + Math.floor(dice.pick([0, 0.5, 1.1]) * spread) * unit * second;
  const perTime = new Map<number, number>();
  let serial = 0;

  const newRecord = (least = Number.NEGATIVE_INFINITY): ModelRecord | null => {
    const quiet = of.isLong && dice.chance(0.3) ? dice.pick([-700, 400, 900]) * 86400 : 0;
    const at = Math.max(least, begin + (dice.below(spread) * unit + quiet) * second);
    const inSecond = perTime.get(at) ?? 0;
    if (inSecond >= perSecond) return null;
    perTime.set(at, inSecond + 1);
    const instant = at + (traits.hasFractions ? dice.pick([0, 100, 500, 999]) : 0);
    const { clockChange } = traits;
    const time = clockChange === null || instant < clockChange.at ? at : at + clockChange.by;
    return { sid: `${'anz'[dice.below(3)]}${serial++}`, instant, time, version: 1 };
  };

  const count = dice.below(of.isLong ? 8 * most : most);
  const initial: ModelRecord[] = [];
  for (let i = 0; i < count; i++) {
    const record = newRecord();
    if (record !== null) initial.push(record);
  }

  const twins = new Set<string>();
  if (of.twins && initial.length > 2) {
    const [first, last] = [initial[0], initial.at(-1)] as [ModelRecord, ModelRecord];
    if (Math.abs(first.time - last.time) > 2 * second) {
      initial[initial.length - 1] = { ...last, sid: first.sid };
      twins.add(first.sid);
    }
  }

  const server = new ModelServer(initial, traits, dice);
  const asked = {
    from: dice.chance(0.4) ? begin + dice.below(4) * unit * second : null,
    to: dice.chance(0.4) ? begin + (spread - dice.below(3)) * unit * second : null,
  };
  const covered = initial.filter((record) => server.covers(asked, record));
  const must = new Set(covered.map(({ sid }) => sid));
  const may = new Set(initial.map(({ sid }) => sid));
  const rate = moves.length === 0 || dice.chance(0.3) ? 0 : unrest * dice.roll() * 0.2;
  return {
    server,
    asked,
    rows,
    until,
    must,
    may,
    twins,
    isOneWay: moves.length < 2,
    isCalm: rate === 0 && traits.misplacing === 0 && traits.whim === 0,
    tick() {
      if (rate === 0 || !dice.chance(rate)) return;
      const kind = dice.pick(moves);
      const { records } = server;
      if (kind === 'insert') {
        const record = of.isLate ? newRecord(until) : newRecord();
        if (record !== null) {
          may.add(record.sid);
          server.insert(record);
        }
      } else if (records.length > 0) {
        const at = dice.pick([0, records.length - 1, dice.below(records.length)]);
        if (kind === 'remove') {
          must.delete((records[at] as ModelRecord).sid);
          server.remove(at);
        } else server.update(at);
      }
    },
  };
}

interface Outcome {
  readonly taken: readonly { readonly run: number; readonly record: ModelRecord }[];
  readonly verdict: Verdict<number> | null;
  readonly failure: unknown;
  readonly isOneRun: boolean;
}

function judge(
  world: World,
  { taken, verdict, failure, isOneRun }: Outcome,
  violations: string[],
): void {
  const { server, must, may, twins, isCalm, rows } = world;
  const { traits, hidden } = server;

  const say = (violation: string): void => {
    violations.push(violation);
  };

  const sids = new Map<string, { run: number; record: ModelRecord }>();
  const isPaged = traits.totals === 'none' || traits.onward === 'cursors';

  // Near a change of the clock, ranges of two runs may overlap; a list of pages shifts between two
  // runs.
  const mayRepeat = (time: number): boolean =>
    server.isAstray(time) ||
    traits.ignoresRanges ||
    traits.doubles > 0 ||
    twins.size > 0 ||
    (isPaged && !isCalm);

  for (const one of taken) {
    const { sid, time } = one.record;
    const before = sids.get(sid);
    if (before?.run === one.run) say(`${sid} was delivered twice in one run`);
    else if (before !== undefined && !mayRepeat(time))
      say(`${sid} was delivered again after a resume`);
    if (!may.has(sid)) say(`${sid} was never in the list`);
    if (traits.doubles > 0 && server.isDoubled(one.record) && Number.isInteger(one.record.version))
      say('a doubled record came in its first form');
    sids.set(sid, one);
  }

  const isHonest =
    (traits.totals === 'true' || traits.totals === 'notOnLast') &&
    !traits.ignoresRanges &&
    !traits.repeatsPages &&
    traits.doubles === 0;
  const code = failure instanceof Error && 'code' in failure ? failure.code : null;
  if (code === 'range_ignored' && !traits.ignoresRanges)
    say('a server that filters is said to ignore ranges');
  const isSound =
    !traits.ignoresRanges &&
    !traits.repeatsPages &&
    traits.totals !== 'huge' &&
    traits.totals !== 'page';
  if (code === 'too_many_requests' && isSound) say('too many requests');
  const isFar = server.records.some(({ time }) => time > begin + 8 * 3600e3);
  if (code === 'too_many_requests' && traits.ignoresRanges && isFar)
    say('ranges ignored, and noticed late');
  if (verdict === null) return;
  const { proof, gaps, proved } = verdict;
  const named = new Set(gaps.flatMap((gap) => gap.sids));
  for (const { record } of traits.countsOnce && isCalm ? taken : [])
    if (server.isDoubled(record) && !named.has(record.sid))
      say(`${record.sid} came twice, and nobody says so`);
  const lost = [...must].filter((sid) => !sids.has(sid) && !hidden.has(sid));
  const all = `${lost.join(', ')} lost`;
  const seesAll = traits.totals !== 'page' || (traits.clamp > rows + 3 && traits.whim === 0);
  if (proof === 'whole' && lost.length > 0 && seesAll) say(`whole, but ${all}`);

  // What a server gives at all is delivered, whether it is proved or not.
  const givesAll =
    isSound &&
    traits.order !== 'unstable' &&
    !traits.repeatsPages &&
    traits.totals !== 'lagging' &&
    twins.size === 0;
  if (
    lost.length > 0 &&
    givesAll &&
    (isPaged ? traits.misplacing === 0 && traits.whim === 0 : isCalm)
  )
    say(`ended, but ${all}`);

  // Each record that stayed is delivered, or lies in a stretch that is said not to be proved.
  const records = new Map(server.records.map((record) => [record.sid, record.time]));

  const isSaid = (sid: string): boolean => {
    const time = records.get(sid) ?? 0;
    return gaps.some(
      ({ from, to }) => (from ?? 0) - 7200e3 <= time && time <= (to ?? 9e15) + 7200e3,
    );
  };

  if (seesAll && lost.some((sid) => !isSaid(sid))) say(all);
  if (proof === 'whole' && traits.totals === 'none' && sids.size > 0) say('whole without a total');
  if (proof === 'whole' && traits.totals === 'huge') say('whole with totals that cannot be');
  if (proof === 'whole' && traits.countsMoreAtFirst && isOneRun)
    say('whole, with fewer than at first');
  if (
    proof === 'whole' &&
    [...sids.values()].some(({ record }) => !Number.isInteger(record.version))
  )
    say('whole, though rows came twice');

  if (proof === 'whole' && isCalm && isOneRun && [...twins].some((sid) => bothCovered(world, sid)))
    say('whole, though a call came twice');
  const isShort =
    isHonest &&
    isCalm &&
    !traits.countsMoreAtFirst &&
    traits.dropping === 0 &&
    twins.size === 0 &&
    traits.order !== 'unstable';
  // Nothing tells the only record of a list from one of a server that gives no totals.
  const isKnown = traits.totals !== 'notOnLast' || server.records.length > 1;
  if (proof !== 'whole' && isShort && isKnown && traits.onward === 'numbers')
    say('a calm list is not whole');
  if (traits.ignoresRanges && isCalm && isFar && server.records.length > rows + 3)
    say('ranges ignored, and nobody says so');
  const told = gaps.reduce((sum, { calls }) => sum + calls, proved);
  const isCountable =
    !isPaged && !traits.ignoresRanges && traits.clockChange === null && twins.size === 0;
  if (isCountable && traits.doubles === 0 && told !== sids.size)
    say(`told ${told} calls, delivered ${sids.size}`);
  judgeCounts(world, [...sids.values()], proof, violations);
}

/** What was read is counted at the end, and a count that differs is told. */
function judgeCounts(
  { server: { traits, counts, records }, asked, until, isOneWay, twins }: World,
  taken: readonly { readonly run: number; readonly record: ModelRecord }[],
  proof: string,
  violations: string[],
): void {
  const isPlain =
    traits.totals === 'true' &&
    traits.onward === 'numbers' &&
    !traits.ignoresRanges &&
    !traits.hasFractions;
  if (
    proof !== 'whole' ||
    !isPlain ||
    traits.clockChange !== null ||
    traits.replicaLag > 0 ||
    traits.doubles > 0
  )
    return;

  const isOld = [...records, ...taken.map(({ record }) => record)].every(
    ({ time }) => time <= until,
  );
  if (
    counts.length === 0 &&
    new Set(taken.map(({ record }) => record.time)).size > 20 &&
    isOld &&
    (asked.to === null || asked.to <= until)
  )
    violations.push('whole without a count at the end');

  const inside = (a: Range, b: Range): boolean =>
    (b.from ?? 0) <= (a.from ?? 0) && (a.to ?? 9e15) <= (b.to ?? 9e15);
  for (const [i, { range, found }] of isOneWay && twins.size === 0 ? counts.entries() : []) {
    if (counts.some((other, j) => j > i && inside(other.range, range))) continue;
    const had = taken.filter(
      ({ record: { time } }) => (range.from ?? 0) <= time && time <= (range.to ?? 9e15),
    ).length;
    const atBorder = taken.filter(
      ({ record: { time } }) => time === range.from || time === range.to,
    ).length;
    if (found === null || had < found || had - found > atBorder)
      violations.push(`whole, but it counted ${found} where ${had} were delivered`);
  }
}

function bothCovered({ server, asked }: World, sid: string): boolean {
  return (
    server.records.filter((record) => record.sid === sid && server.covers(asked, record)).length ===
    2
  );
}
