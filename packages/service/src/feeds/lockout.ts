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
  readonly count: number;
  readonly ends: number;
}

/** What came of a password: right, wrong, or not looked at, since the address has to wait so many seconds. */
export type Trial =
  | { readonly result: 'right' | 'wrong' }
  | { readonly result: 'locked'; readonly wait: number };

/** Counts wrong passwords for one feed. */
export interface Lockout {
  /** Checks a password. Those of one address are checked one after the other, so that many at once are not more tries. */
  check(address: string, isRight: () => Promise<boolean>): Promise<Trial>;
  /** A wrong password was the right one elsewhere: it was no guess. */
  forgive(address: string): void;
}

/** Slows down whoever guesses, without locking out the tool that knows the password. */
export function createLockout(clock: Pick<Clock, 'now'>): Lockout {
  const tries = new Map<string, Tries>();
  const friends = new Set<string>();
  let all: Tries = { count: 0, ends: 0 };

  const current = (found: Tries | undefined): Tries =>
    found !== undefined && found.ends > clock.now() ? found : { count: 0, ends: clock.now() + spanMs };
  const waitOf = (address: string): number => {
    const own = current(tries.get(address));
    const total = current(all);
    const isLocked = own.count >= mostTries;
    const isClosed = total.count >= mostTriesInAll && !friends.has(address);
    const ends = Math.max(isLocked ? own.ends : 0, isClosed ? total.ends : 0);
    return ends === 0 ? 0 : Math.max(1, Math.ceil((ends - clock.now()) / 1000));
  };
  const count = (address: string, more: 1 | -1): void => {
    const own = current(tries.get(address));
    tries.delete(address);
    tries.set(address, { ...own, count: Math.max(0, own.count + more) });
    all = current(all);
    all = { ...all, count: Math.max(0, all.count + more) };
    forgetOldest(tries);
  };
  const checks = new Map<string, Promise<Trial>>();
  return {
    async check(address, isRight) {
      const before = checks.get(address);
      const trial = (async (): Promise<Trial> => {
        await before?.catch(() => undefined);
        const wait = waitOf(address);
        if (wait > 0) return { result: 'locked', wait };
        if (!(await isRight())) {
          count(address, 1);
          return { result: 'wrong' };
        }
        tries.delete(address);
        friends.delete(address);
        friends.add(address);
        forgetOldest(friends);
        return { result: 'right' };
      })();
      checks.set(address, trial);
      try {
        return await trial;
      } finally {
        if (checks.get(address) === trial) checks.delete(address);
      }
    },
    forgive: (address) => count(address, -1),
  };
}

function forgetOldest(kept: Map<string, unknown> | Set<string>): void {
  const [oldest] = kept.keys();
  if (kept.size > mostAddresses && oldest !== undefined) kept.delete(oldest);
}
