import type { Call } from '@call-attribution/core';
import { toFilter } from '@call-attribution/query-dsl';
import type { SyncBatch, SyncOptions, SyncOutcome, SyncState } from '../../src/index.ts';
import * as sound from '../../src/index.ts';
import { copyVerdict } from '../../src/sync/copy-verdict.ts';
import {
  type Account,
  accountOf,
  begin,
  day,
  Endless,
  hour,
  Killed,
  type Life,
  naive,
  pass,
} from './account.ts';
import { type Dice, diceOf } from './dice.ts';

/** How large the lives of copies may get. */
export interface LifeSize {
  /** Calls in one second at most. */
  readonly crowd: number;
  readonly runs: number;
}

/**
 * Plays the life of a copy: an account, and runs of a sync that die, are cut, refuse calls and have
 * clocks that jump. A copy that is called whole has every call that it was asked for and that the
 * server had when the last such run began, and where all clocks are right also as it was then.
 *
 * @param of the sync, or one with a mistake planted in it.
 */
export async function playSyncs(
  seed: number,
  { crowd, runs }: LifeSize,
  { syncInto }: Pick<typeof sound, 'syncInto'> = sound,
): Promise<Life> {
  const dice = diceOf(seed);
  const account = accountOf(dice, crowd);
  const copy = new Copy();
  const lookback = dice.pick([hour, day, 3 * day]);
  account.changing = lookback;
  const settle = dice.pick([5 * day, 30 * day]);
  const jumps = dice.chance(0.4);
  const filters = filtersOf(account, dice);
  const violations: string[] = [];
  /** What it was asked for, and when the last run began that has brought something of it. */
  const asked = new Map<string, number>();
  let deaths = 0;
  let whole = 0;
  let compared = 0;

  const runOnce = async (name: string, plan: Plan): Promise<void> => {
    let wrong = plan.wrong;
    const clock = {
      now() {
        if (jumps && dice.chance(0.001)) wrong = wrongBy(dice);
        return account.now + wrong;
      },
    };
    const before = JSON.stringify(copy.state);
    const start = account.now;
    account.requests = 0;
    account.answers = plan.answers;
    copy.commits = plan.commits;
    const { answers: _, commits: __, wrong: ___, ...options } = plan;
    let proof: string | undefined;
    try {
      ({ proof } = await syncInto(account, copy, { ...options, lookback, settle, clock }));
    } catch (error) {
      if (error instanceof Killed) deaths += 1;
      else violations.push(`${name}: ${error instanceof Endless ? error.message : String(error)}`);
    }

    // What a run that died leaves may be whole as well.
    if (proof === undefined && JSON.stringify(copy.state) === before) return;
    asked.set(plan.filter, start);
    if ((proof ?? copyVerdict(copy.state)?.proof) !== 'whole') return;
    whole += 1;
    const isFresh = !jumps && plan.maxPages === undefined;
    for (const [filter, since] of asked) {
      const takes = account.matching(toFilter(filter, { version: account.version }));
      for (const call of account.calls) {
        if (call.since > since || !takes(call)) continue;
        compared += 1;
        const held = copy.rows.get(call.sid);
        const isOld = filter !== plan.filter || call.changedAt > start - hour;
        if (held === undefined) violations.push(`${name}: whole, but ${call.sid} is missing`);
        else if (isFresh && !isOld && held !== textOf(account.shown(call)))
          violations.push(`${name}: whole, but ${call.sid} is not as it was`);
      }
    }
  };

  const count = 1 + dice.below(runs);
  for (let run = 1; run <= count; run += 1) {
    await runOnce(`run ${run}`, planOf(account, copy, dice, { filters, jumps }));
    pass(account, dice);
  }

  // In the end nothing is in the way any more: all of it is there, and it is whole.
  copy.refuses = () => false;
  account.unrest = 0;
  const last = { ...usual, filter: account.version === 'v3' ? 'inc_gce:1' : '', rows: 50 };
  for (const filter of new Set([...filters, last.filter]))
    await runOnce('the end', { ...last, filter });
  const verdict = copyVerdict(copy.state);
  if (violations.length === 0 && verdict?.proof !== 'whole')
    violations.push(`the end: ${JSON.stringify(verdict?.gaps)}`);
  return { runs: count, deaths, whole, compared, violations };
}

/** A run: its options, and what happens to it. */
interface Plan extends SyncOptions {
  readonly filter: string;
  /** Requests and commits after which it is dead. */
  readonly answers: number;
  readonly commits: number;
  /** By how much its clock is wrong. */
  readonly wrong: number;
}

const usual = {
  answers: Number.POSITIVE_INFINITY,
  commits: Number.POSITIVE_INFINITY,
  wrong: 0,
} as const;

const wrongBy = (dice: Dice): number =>
  dice.pick([0, 2 * hour, -2 * hour, 30 * day, -30 * day, 365 * day]);

function planOf(
  account: Account,
  copy: Copy,
  dice: Dice,
  { filters, jumps }: { readonly filters: readonly string[]; readonly jumps: boolean },
): Plan {
  const dies = dice.pick(['', 'at a request', 'before a commit'] as const);
  const most = dice.pick([2, 8, 40]);
  account.unrest = dice.pick([0, 0.05, 0.3]);
  const refused = dice.pick([0, 0, 0.02, 0.1]);
  copy.refuses = (sid) => scrambled(sid) < refused * 1000;
  const from = naive(begin - dice.below(30) * day);
  return {
    filter: dice.chance(0.7) ? (filters[0] ?? '') : dice.pick(filters),
    rows: dice.pick([10, 40, 1000]),
    prefetch: 1 + dice.below(5),
    order: dice.pick(['oldest', 'newest'] as const),
    answers: dies === 'at a request' ? 1 + dice.below(most) : usual.answers,
    commits: dies === 'before a commit' ? dice.below(most) : usual.commits,
    wrong: jumps ? wrongBy(dice) : 0,
    ...(dice.chance(0.3) ? { maxPages: 1 + dice.below(most) } : {}),
    ...(dice.chance(0.2) ? { first: { from, to: naive(Date.parse(`${from}Z`) + 5 * day) } } : {}),
  };
}

/** What its copy is asked for: mostly the first of them. */
function filtersOf({ version }: Account, dice: Dice): string[] {
  const from = begin - dice.below(60) * day;
  const to = from + dice.below(40) * day;
  const some = [
    'talk_minutes:[2 TO *]',
    `date_added:[${naive(from)} TO *]`,
    `date_added:[${naive(from)} TO ${naive(to)}${dice.pick([']', '}'])}`,
  ].filter(() => dice.chance(0.4));
  return [version === 'v3' ? dice.pick(['', 'inc_gce:1']) : '', ...some];
}

/** A copy in memory, which takes calls and state together, and dies before a commit. */
class Copy {
  readonly rows = new Map<string, string>();
  #state = 'null';
  commits = Number.POSITIVE_INFINITY;
  refuses: (sid: string) => boolean = () => false;

  get state(): SyncState | null {
    return JSON.parse(this.#state) as SyncState | null;
  }

  async load(): Promise<SyncState | null> {
    return this.state;
  }

  async commit({ calls, state, stateWithout }: SyncBatch): Promise<SyncOutcome> {
    this.commits -= 1;
    if (this.commits < 0) throw new Killed('killed');
    const taken = calls.filter(({ sid }) => !this.refuses(sid));
    const refused = calls.length - taken.length;
    this.#state = JSON.stringify(refused === 0 ? state : stateWithout(refused));
    let added = 0;
    let changed = 0;
    for (const call of taken) {
      const before = this.rows.get(call.sid);
      const text = textOf(call);
      if (before === undefined) added += 1;
      else if (before !== text) changed += 1;
      this.rows.set(call.sid, text);
    }
    return { added, changed, refused };
  }
}

const textOf = (call: Partial<Call>): string => JSON.stringify(call);

const scrambled = (sid: string): number => {
  let sum = 7;
  for (let i = 0; i < sid.length; i += 1) sum = (sum * 31 + sid.charCodeAt(i)) % 997;
  return sum;
};
