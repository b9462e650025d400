import type { Board, BoardEntry } from '../board/board.ts';
import { accountKeyOfLane } from './keys.ts';
import { parcelAt } from './lane.ts';
import type { Presence } from './presence.ts';
import type { AccountValue, LaneValue } from './values.ts';

/** Something that a worker may take now. */
export type Candidate = {
  /** Board time since when it waits. */
  readonly since: number;
  readonly account: AccountValue;
} & (
  | { readonly kind: 'parcel'; readonly entry: BoardEntry<LaneValue> }
  | { readonly kind: 'close' | 'sync'; readonly entry: BoardEntry<AccountValue> }
);

/** What may be taken, and when something else may be. */
export interface Ready {
  readonly candidates: readonly Candidate[];
  /** Board time of the next lane or account that only waits for its time; null when there is none. */
  readonly next: number | null;
  /** Accounts on the board. */
  readonly accounts: number;
  /** Whether all of them are final or set aside. */
  readonly isOver: boolean;
}

/**
 * What may be taken now: lanes with work, of accounts that are read; accounts whose lanes are all at their end; accounts whose
 * sync is due. Their time has come, and nobody who is alive holds them.
 *
 * @param lanes those of an account.
 * @param isMine whether this worker holds a key and works on it.
 */
export function readyWork(
  board: Board,
  presence: Presence,
  lanes: number,
  isMine: (key: string) => boolean,
): Ready {
  const now = board.now();
  const candidates: Candidate[] = [];
  let next: number | null = null;
  const offer = (candidate: Candidate, { notBefore }: { readonly notBefore: number }): void => {
    if (notBefore <= now) candidates.push(candidate);
    else next = Math.min(next ?? notBefore, notBefore);
  };
  const open = openLanes(board);
  let isOver = true;
  let accounts = 0;
  for (const plain of board.entries('account.')) {
    if (isGone(plain)) continue;
    const entry = plain as unknown as BoardEntry<AccountValue>;
    const account = entry.value;
    accounts += 1;
    if (account.phase === 'final' || account.phase === 'aside') continue;
    isOver = false;
    const mine = open.get(entry.key);
    const since = Math.max(entry.at, account.notBefore);
    const isFree = !isMine(entry.key) && presence.isFree(account.by, entry.at);
    if (account.phase === 'syncing') {
      if (isFree) offer({ kind: 'sync', since, account, entry }, account);
      continue;
    }
    // Without all of its lanes nobody knows whether it was read.
    if (isFree && mine !== undefined && mine.seen >= lanes && mine.withWork.length === 0)
      offer({ kind: 'close', since, account, entry }, account);
    // A worker that died while it closed the account may have found parcels to be read again.
    if (account.phase === 'reading' || isFree)
      for (const lane of mine?.withWork ?? []) {
        if (isMine(lane.key) || !presence.isFree(lane.value.by, lane.at)) continue;
        offer(
          { kind: 'parcel', since: Math.max(lane.at, lane.value.notBefore), account, entry: lane },
          lane.value,
        );
      }
  }
  return { candidates, next, accounts, isOver };
}

/**
 * One of those that have waited longest, at random: if all workers picked the same, most of their writes would be lost.
 *
 * @param among how many of the oldest, which is workers times slots.
 */
export function draw(
  candidates: readonly Candidate[],
  among: number,
  random: () => number,
): Candidate | undefined {
  const oldest = [...candidates].sort((a, b) => a.since - b.since).slice(0, Math.max(1, among));
  return oldest[Math.floor(random() * oldest.length)];
}

interface AccountLanes {
  seen: number;
  readonly withWork: BoardEntry<LaneValue>[];
}

/** The lanes that are not at their end, by the keys of their accounts. */
function openLanes(board: Board): Map<string, AccountLanes> {
  const all = new Map<string, AccountLanes>();
  for (const plain of board.entries('lane.')) {
    if (isGone(plain)) continue;
    const entry = plain as unknown as BoardEntry<LaneValue>;
    const key = accountKeyOfLane(entry.key);
    const lanes = all.get(key) ?? { seen: 0, withWork: [] };
    lanes.seen += 1;
    if (parcelAt(entry.value) !== null) lanes.withWork.push(entry);
    all.set(key, lanes);
  }
  return all;
}

/** Keys are given up, never deleted. */
const isGone = ({ value }: BoardEntry): boolean =>
  value === null || typeof value !== 'object' || 'gone' in value;
