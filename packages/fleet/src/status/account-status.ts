import type { Board } from '../board/board.ts';
import { accountsOn, lanesOn, plainOf } from '../lanes/board-values.ts';
import type { AccountSync, AccountValue, LaneValue, Phase } from '../lanes/values.ts';

/** An account as the board knows it. */
export interface AccountStatus {
  /** Its id. */
  readonly id: string;
  /** Its name for people. */
  readonly name: string | null;
  /** What happens to it. */
  readonly phase: Phase;
  /** Parcels of its plan that are committed, of how many, and how many were set aside. */
  readonly parcels: { readonly done: number; readonly total: number; readonly aside: number };
  /** Records that are committed, and records of its plan. */
  readonly records: { readonly done: number; readonly total: number };
  /** Names of the workers that are at it. */
  readonly workers: readonly string[];
  /** What keeps it from getting on; null when nothing does. */
  readonly trouble: AccountTrouble | null;
  /** Its proof, once there is one: records there, and the server's total. */
  readonly verdict: { readonly records: number; readonly total: number; readonly at: number } | null;
  /** What its syncs did; null before the first one. */
  readonly sync: AccountSync | null;
}

/** What keeps an account from getting on. */
export interface AccountTrouble {
  /**
   * `aside`: the account is out of the work until somebody acts; `parcels`: some of its parcels are, the others go on; `failing`: it
   * has been failing for ten minutes or more, and is tried again.
   */
  readonly kind: 'aside' | 'parcels' | 'failing';
  /** Code of the error. */
  readonly code: string;
  /** One sentence; null where only the code is known. */
  readonly message: string | null;
  /** Milliseconds since it began. */
  readonly forMs: number;
}

/** From when on a lane that fails is shown, in milliseconds. */
const patience = 600_000;
/** The same for an account that is closed or synced: failures in a row. */
const failures = 5;

interface LaneTotals {
  done: number;
  passed: number;
  records: number;
  aside: [index: number, code: string][];
  workers: Set<string>;
  failing: { code: string; since: number } | null;
}

/** All accounts, those with the worst trouble first, then by id. */
export function readAccounts(board: Board, now: number, laneCount: number): AccountStatus[] {
  const lanes = readLanes(board, laneCount);
  const accounts: AccountStatus[] = [];
  for (const [token, { value, at }] of accountsOn(board)) {
    const own = lanes.get(token) ?? noLanes();
    if (value.by !== null) own.workers.add(value.by);
    accounts.push({
      id: value.id ?? plainOf(token),
      name: value.name,
      phase: value.phase,
      parcels: { done: own.passed, total: value.parcels, aside: own.aside.length },
      records: { done: recordsOf(value, own), total: value.total },
      workers: [...own.workers],
      trouble: troubleOf(value, at, own, now),
      verdict: value.verdict,
      sync: value.sync,
    });
  }
  return accounts.sort((a, b) => rankOf(a) - rankOf(b) || (a.id < b.id ? -1 : 1));
}

/** The proof knows better than the sums of the lanes, until the account is read again. */
const recordsOf = ({ phase, verdict }: AccountValue, lanes: LaneTotals): number =>
  (phase === 'syncing' || phase === 'final') && verdict ? verdict.records : lanes.records;

const kinds: readonly AccountTrouble['kind'][] = ['aside', 'parcels', 'failing'];
const rankOf = ({ trouble }: AccountStatus): number =>
  trouble === null ? kinds.length : kinds.indexOf(trouble.kind);

const noLanes = (): LaneTotals => ({
  done: 0,
  passed: 0,
  records: 0,
  aside: [],
  workers: new Set(),
  failing: null,
});

/** The lanes of each account, added up. */
function readLanes(board: Board, laneCount: number): Map<string, LaneTotals> {
  const sums = new Map<string, LaneTotals>();
  for (const [rest, { value }] of lanesOn(board)) {
    const dot = rest.lastIndexOf('.');
    const token = rest.slice(0, dot);
    const own = sums.get(token) ?? noLanes();
    sums.set(token, own);
    own.passed += passedIn(value, Number(rest.slice(dot + 1)), laneCount);
    own.records += value.records;
    for (const [index, code] of value.aside) own.aside.push([index, code]);
    if (value.by !== null) own.workers.add(value.by);
    if (value.failingSince > 0 && value.why !== null && value.failingSince < (own.failing?.since ?? Infinity))
      own.failing = { code: value.why, since: value.failingSince };
  }
  return sums;
}

/** Parcels that a lane has passed. Not what was committed in it: a parcel that is read again is committed twice. */
function passedIn(lane: LaneValue, k: number, laneCount: number): number {
  const end = Math.min(lane.next, lane.parcels);
  const passed = end <= k ? 0 : Math.ceil((end - k) / laneCount);
  return Math.max(0, passed - lane.again.length - lane.aside.length);
}

function troubleOf(value: AccountValue, at: number, lanes: LaneTotals, now: number): AccountTrouble | null {
  const { aside, phase, tries } = value;
  const since = (time: number): number => Math.max(0, now - time);
  if (phase === 'aside') {
    return {
      kind: 'aside',
      code: aside?.code ?? 'unknown',
      message: aside?.message ?? null,
      forMs: since(aside?.at ?? at),
    };
  }
  const [first] = lanes.aside;
  if (first) return { kind: 'parcels', code: first[1], message: null, forMs: since(at) };
  if (lanes.failing && since(lanes.failing.since) >= patience) {
    return { kind: 'failing', code: lanes.failing.code, message: null, forMs: since(lanes.failing.since) };
  }
  if (tries >= failures && aside)
    return { kind: 'failing', code: aside.code, message: aside.message, forMs: since(aside.at) };
  return null;
}
