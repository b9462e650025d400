import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Fetch } from '@call-attribution/core';
import type { Board, ParcelClaim, Target } from '../src/index.ts';

/** The life of a worker: it may die or stand still at each of its awaits. */
export interface Life {
  /** Comes before and after everything that others can see. */
  step(): Promise<void>;
  readonly isDead: boolean;
  /** How often it has stood still. */
  readonly stalls: number;
}

/** The process is gone: nothing of it may be seen from here on. */
export class Killed extends Error {}

export interface Fate {
  /** The await at which it dies; null: it lives. */
  readonly diesAt: number | null;
  /** How often it stands still, from 0 to 1, and for how long. */
  readonly stalls: number;
  readonly stallMs: number;
  readonly random: () => number;
}

export function newLife({ diesAt, stalls, stallMs, random }: Fate, onDeath: () => void = () => {}): Life {
  let steps = 0;
  let stood = 0;
  let isDead = false;
  return {
    get isDead() {
      return isDead;
    },
    get stalls() {
      return stood;
    },
    async step() {
      steps += 1;
      if (!isDead && diesAt !== null && steps >= diesAt) {
        isDead = true;
        onDeath();
      }
      if (isDead) throw new Killed();
      const r = random();
      if (r < stalls) {
        stood += 1;
        await sleep(stallMs);
      } else if (r < 0.5) await nextTurn();
      if (isDead) throw new Killed();
    },
  };
}

/** Everything of an object that waits, with a step before and after it. */
function mortal<T extends object>(life: Life, part: T, names: readonly (keyof T)[]): T {
  const copy: T = Object.create(part);
  for (const name of names) {
    const whole = part[name] as (...values: unknown[]) => Promise<unknown>;
    Object.defineProperty(copy, name, {
      configurable: true,
      value: async (...values: unknown[]) => {
        await life.step();
        const result = await whole.apply(part, values);
        await life.step();
        return result;
      },
    });
  }
  return copy;
}

export function mortalBoard(life: Life, board: Board): Board {
  const copy = mortal(life, board, ['write']);
  const { write } = copy;
  // A slow machine sees more signs of life; they must not decide when a worker dies.
  const counted: Board['write'] = (key, value, revision) =>
    key.startsWith('worker.') && !life.isDead
      ? board.write(key, value, revision)
      : write(key, value, revision);
  return Object.defineProperty(copy, 'write', { value: counted });
}

export const mortalFetch =
  (life: Life, fetch: Fetch): Fetch =>
  async (url, init) => {
    await life.step();
    return fetch(url, init);
  };

/** `left` takes what the dead have left open: their process would have closed it. */
export function mortalTarget(life: Life, target: Target, left: ParcelClaim[]): Target {
  const copy = mortal(life, target, ['pin', 'planOf', 'reopen', 'count', 'continuePlan', 'inspect']);
  return Object.defineProperties(copy, {
    claim: {
      value: async (...values: Parameters<Target['claim']>): Promise<ParcelClaim> => {
        await life.step();
        const claim = await target.claim(...values);
        await life.step().catch((error: unknown) => {
          left.push(claim);
          throw error;
        });
        const mine = mortal(life, claim, ['put', 'commit']);
        // The dead remove nothing.
        const drop = async (): Promise<void> => {
          if (life.isDead) left.push(claim);
          else await claim.drop();
        };
        return Object.defineProperty(mine, 'drop', { value: drop });
      },
    },
    verdicts: {
      value: async function* (account: string) {
        await life.step();
        yield* target.verdicts(account);
      },
    },
  });
}
