import { Reading, type ReadingOptions } from '../../src/next/reading.ts';
import type { Checkpoint } from '../../src/next/page.ts';
import type { Span, Verdict } from '../../src/next/proof.ts';
import { StreamError } from '../../src/next/stream-error.ts';
import { type Dice, diceOf } from './dice.ts';
import { Endless, ModelNetwork, type ModelRecord, ModelServer, type Traits } from './server.ts';

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
  'empty pages': { traits: { onward: 'cursors', totals: 'none', emptyPages: 0.3 }, moves: ['insert'] },
  'capped rows': { clamps: true },
  'pages repeated': { traits: { repeatsPages: true }, perSecond: 12 },
  'rows doubled': { traits: { doubles: 0.1 }, moves: [] },
  'late records': { moves: ['insert'], isLate: true },
} satisfies Record<string, Case>;

interface Case {
  readonly traits?: Partial<Traits>;
  readonly perSecond?: number;
  readonly moves?: readonly Move[];
  readonly clock?: number;
  readonly clamps?: boolean;
  readonly isLate?: boolean;
}

/** One of them. */
export type Regime = keyof typeof cases;

/** All of them. */
export const regimes = Object.keys(cases) as readonly Regime[];

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
  ...{ records: 60, runs: 4, unrest: 1, hasFaults: true },
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
export type Reader = Pick<typeof import('../../src/next/reading.ts'), 'Reading'>;

const second = 1000;
const begin = Date.UTC(2026, 2, 1);
type Move = 'insert' | 'remove' | 'update';

interface World {
  readonly server: ModelServer;
  readonly asked: Span<number>;
  readonly rows: number;
  readonly until: number;
  /** Records that were in the list all the time, in every state of it that was shown. */
  readonly must: ReadonlySet<string>;
  /** All that ever were. */
  readonly may: ReadonlySet<string>;
  tick(): void;
}

/** Plays a history, or that of a seed: a list that moves, read in one or more runs, and what must hold of it. */
export async function playHistory(of: number | HistoryPlan, reader: Reader = { Reading }): Promise<History> {
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
  for (let run = 1; verdict === null && run < 25; run += 1) {
    const network = new ModelNetwork(server, dice, () => world.tick());
    const stopAfter = run >= mostRuns ? Number.POSITIVE_INFINITY : 1 + dice.below(4);
    const reading = new reader.Reading(optionsOf(world, network, dice, checkpoint));
    failure = null;
    let pages = 0;
    try {
      for await (const portion of reading.portions()) {
        for (let i = 0; i < portion.size; i += 1)
          taken.push({ run, record: portion.item(i) as ModelRecord });
        // A checkpoint is stored as JSON.
        checkpoint = JSON.parse(JSON.stringify(portion.commit().checkpoint)) as Checkpoint;
        pages += 1;
        if (pages === stopAfter) break;
      }
      if (pages !== stopAfter) verdict = await reading.verdict;
      else if ((await reading.verdict).proof === 'whole' && server.traits.totals === 'true') {
        const { gaps } = await reading.verdict;
        if (gaps.length > 0) violations.push('whole with gaps');
      }
    } catch (error) {
      failure = error;
      if (error instanceof Endless) violations.push('the read asks without end');
      if (!(error instanceof Error) || error.message !== 'connection lost') break;
    }
    requests += network.requests;
  }
  judge(plan.regime, world, taken, verdict, failure, violations);
  return { verdict, failure, requests, violations };
}

function optionsOf(
  { server, asked, rows, until }: World,
  source: ModelNetwork,
  dice: Dice,
  checkpoint: Checkpoint | null,
): ReadingOptions<ModelRecord, ModelRecord, number> {
  return {
    source,
    of: 'a model',
    asked,
    read: (at) => at,
    spanOf: ({ from, to }) => ({ from, to }),
    until: server.traits.clockChange === null ? until : null,
    take: (record) => record,
    leaves: 'lost',
    count: (range) => source.count(range),
    // A later run may ask for other numbers of rows than the one it resumes.
    rows: dice.chance(0.2) ? rows + 3 : rows,
    stray: 3600e3,
    step: second,
    ahead: 1 + dice.below(5),
    checkpoint,
    signal: null,
    onProgress: undefined,
    now: () => 0,
  };
}

function makeWorld({ regime, records: most, unrest, hasFaults }: HistoryPlan, dice: Dice): World {
  const { traits: special = {}, perSecond = 3, moves = ['insert', 'remove', 'update'], ...of }: Case = cases[regime];
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
    hasFractions: false,
    clockChange: of.clock === undefined ? null : change,
    ...special,
  };
  const rows = 4 + dice.below(12);
  const until = begin + Math.floor(dice.pick([0, 0.5, 1.1]) * spread) * unit * second;
  const perTime = new Map<number, number>();
  let serial = 0;
  const newRecord = (least = begin): ModelRecord | null => {
    const at = Math.max(least, begin + dice.below(spread) * unit * second);
    const inSecond = perTime.get(at) ?? 0;
    if (inSecond >= perSecond) return null;
    perTime.set(at, inSecond + 1);
    const instant = at + (traits.hasFractions ? dice.pick([0, 100, 500, 999]) : 0);
    const { clockChange } = traits;
    const time = clockChange === null || instant < clockChange.at ? at : at + clockChange.by;
    return { sid: `${'anz'[dice.below(3)]}${serial++}`, instant, time, version: 1 };
  };
  const count = dice.below(most);
  const initial: ModelRecord[] = [];
  for (let i = 0; i < count; i++) {
    const record = newRecord();
    if (record !== null) initial.push(record);
  }
  const server = new ModelServer(initial, traits, dice);
  const asked = {
    from: dice.chance(0.4) ? begin + dice.below(4) * unit * second : null,
    to: dice.chance(0.4) ? begin + (spread - dice.below(3)) * unit * second : null,
  };
  const covered = initial.filter((record) => server.covers(asked, record));
  const must = new Set(covered.map(({ sid }) => sid));
  const may = new Set(initial.map(({ sid }) => sid));
  const rate = moves.length === 0 ? 0 : unrest * dice.roll() * 0.2;
  return {
    ...{ server, asked, rows, until, must, may },
    tick() {
      if (rate === 0 || !dice.chance(rate)) return;
      const kind = dice.pick(moves);
      const { records } = server;
      if (kind === 'insert') {
        const record = newRecord(of.isLate ? until : begin);
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

function judge(
  regime: Regime,
  { server, must, may }: World,
  taken: readonly { readonly run: number; readonly record: ModelRecord }[],
  verdict: Verdict<number> | null,
  failure: unknown,
  violations: string[],
): void {
  const { traits, hidden } = server;
  const sids = new Map<string, { run: number; record: ModelRecord }>();
  const isPaged = traits.totals === 'none' || traits.onward === 'cursors';
  for (const one of taken) {
    const { sid, time } = one.record;
    const before = sids.get(sid);
    if (before?.run === one.run) violations.push(`${sid} was delivered twice in one run`);
    // A list without totals shifts between two runs; near a change of the clock, ranges of two runs may overlap.
    else if (before !== undefined && !isPaged && !server.isAstray(time) && traits.doubles === 0 && !traits.ignoresRanges)
      violations.push(`${sid} was delivered again after a resume`);
    if (!may.has(sid)) violations.push(`${sid} was never in the list`);
    sids.set(sid, one);
  }
  if (failure instanceof StreamError) {
    if (failure.code === 'range_ignored' && regime !== 'ranges ignored')
      violations.push('a server that filters is said to ignore ranges');
    if (failure.code === 'too_many_requests' && !['ranges ignored', 'huge totals', 'totals of the page'].includes(regime))
      violations.push('too many requests');
    if (failure.code === 'cursor_repeated' && traits.emptyPages === 0) violations.push('a cursor came twice');
  }
  if (verdict === null) return;
  const { proof, gaps, proved } = verdict;
  const isCounted = traits.totals === 'true' || traits.totals === 'ghost';
  const lost = [...must].filter((sid) => !sids.has(sid) && !hidden.has(sid));
  const records = new Map(server.records.map((record) => [record.sid, record]));
  // Each record that stayed is delivered, or lies in a stretch that is said not to be proved.
  const unsaid = lost.filter((sid) => {
    const record = records.get(sid);
    return !gaps.some(
      ({ from, to }) =>
        record === undefined || ((from ?? 0) - 7200e3 <= record.time && record.time <= (to ?? 9e15) + 7200e3),
    );
  });
  if (traits.totals !== 'page' && unsaid.length > 0) violations.push(`${unsaid.join(', ')} lost`);
  if (proof === 'whole' && lost.length > 0 && traits.totals !== 'page')
    violations.push(`whole, but ${lost.join(', ')} lost`);
  if (proof === 'whole' && isPaged && traits.totals === 'none' && sids.size > 0)
    violations.push('whole without a total');
  if (proof === 'whole' && traits.totals === 'huge') violations.push('whole with totals that cannot be');
  if (proof === 'whole' && traits.doubles > 0 && isCounted) {
    const doubled = taken.filter(({ record }) => !Number.isInteger(record.version));
    if (doubled.length > 0) violations.push('whole, though records came twice');
  }
  if (traits.doubles > 0 && taken.some(({ record }) => Number.isInteger(record.version) && isDoubled(record, traits)))
    violations.push('a doubled record came in its first form');
  const delivered = new Set(taken.map(({ record }) => record.sid)).size;
  const told = gaps.reduce((sum, { calls }) => sum + calls, proved);
  if (!isPaged && !traits.ignoresRanges && traits.clockChange === null && traits.doubles === 0 && told !== delivered)
    violations.push(`told ${told} calls, delivered ${delivered}`);
}

/** Whether this server gives a record twice; see `ModelServer.respond`. */
function isDoubled({ sid }: ModelRecord, { doubles }: Traits): boolean {
  let sum = 7;
  for (let i = 0; i < sid.length; i++) sum = (sum * 31 + sid.charCodeAt(i)) % 9973;
  return sum % 100 < doubles * 100;
}
