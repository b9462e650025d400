import type { Clock } from '@call-attribution/core';

/** Wrong tries from one address after which it has to wait. */
const mostTries = 10;
/** Wrong tries from all addresses after which a feed listens only to addresses that knew its password before. */
const mostTriesInAll = 100;
/** For how long tries are counted, and how long the wait is. */
const spanMs = 15 * 60_000;
/** Addresses that are remembered at most. */
const mostAddresses = 10_000;

interface Tries {
  count: number;
  ends: number;
}

/** Counts wrong passwords for one feed. */
export interface Lockout {
  /** Seconds that an address has to wait; 0 when it may try. */
  wait(address: string): number;
  /** Notes a wrong password. */
  failed(address: string): void;
  /** Notes a right one. */
  succeeded(address: string): void;
}

/** Slows down whoever guesses, without locking out the tool that knows the password. */
export function createLockout(clock: Pick<Clock, 'now'>): Lockout {
  const tries = new Map<string, Tries>();
  const friends = new Set<string>();
  let all: Tries = { count: 0, ends: 0 };

  const current = (found: Tries | undefined): Tries =>
    found !== undefined && found.ends > clock.now() ? found : { count: 0, ends: clock.now() + spanMs };
  return {
    wait(address) {
      const own = current(tries.get(address));
      const total = current(all);
      const isLocked = own.count >= mostTries;
      const isClosed = total.count >= mostTriesInAll && !friends.has(address);
      const ends = Math.max(isLocked ? own.ends : 0, isClosed ? total.ends : 0);
      return ends === 0 ? 0 : Math.max(1, Math.ceil((ends - clock.now()) / 1000));
    },
    failed(address) {
      const own = current(tries.get(address));
      own.count += 1;
      tries.delete(address);
      tries.set(address, own);
      all = current(all);
      all.count += 1;
      forgetOldest(tries);
    },
    succeeded(address) {
      tries.delete(address);
      friends.delete(address);
      friends.add(address);
      forgetOldest(friends);
    },
  };
}

function forgetOldest(kept: Map<string, unknown> | Set<string>): void {
  const [oldest] = kept.keys();
  if (kept.size > mostAddresses && oldest !== undefined) kept.delete(oldest);
}
