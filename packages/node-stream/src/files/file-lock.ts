import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '@call-attribution/core/errors';
import { readSmallFile } from '@call-attribution/core/settings';
import { FileLockedError } from '../errors.ts';

/** Releases a lock. */
export interface Unlock {
  /** Releases the lock; does nothing to a lock that was lost. */
  (): Promise<void>;
  /**
   * Throws a `FileLockedError` when the lock was taken over, because this process gave no sign of
   * life for too long.
   */
  check(): Promise<void>;
}

/** Time between two signs of life. */
const heartbeatMs = 10_000;

/**
 * Time without a sign of life after which the claim of another machine or container is dead. On the
 * same machine it is known.
 */
const staleMs = 60_000;

/** A younger claim may be that of a run that is about to step back. */
const youngMs = 1000;

/**
 * Keeps other runs out, on this machine and on others that share the folder, and returns the
 * function that lets go. The lock of a process that no longer runs is taken over, by exactly one.
 * Throws `FileLockedError` when another run holds it.
 *
 * Each run that wants the lock writes a claim, a file with a name of its own: `<path>.<uuid>`. Who
 * then sees no other living claim has the lock, and who sees one steps back. Of two runs at least
 * one sees the other, so that there are never two holders; and since no claim ever takes the name
 * of another, a dead one can be removed by anybody.
 *
 * @example
 * const unlock = await lockFile('state.json.lock');
 * try {
 *   await work();
 * } finally {
 *   await unlock();
 * }
 */
export async function lockFile(path: string): Promise<Unlock> {
  const owner = newOwner();
  const mine = `${path}.${owner.token}`;
  const text = JSON.stringify(owner);

  const check = async (): Promise<void> => {
    if ((await stat(mine).catch(() => null)) === null) throw new FileLockedError(path, null, true);
  };

  for (let attempt = 1; ; attempt += 1) {
    let other: Claim | undefined;
    try {
      // Renamed, so that nobody sees a claim that says nothing.
      await writeFile(`${mine}.new`, text, { flag: 'wx' });
      await rename(`${mine}.new`, mine);
      other = await livingClaim(path, mine);
      // Who stood still for a minute before it had the lock has lost it already.
      if (other === undefined) await check();
    } catch (error) {
      for (const file of [mine, `${mine}.new`]) await rm(file, { force: true });
      const folder = dirname(path);
      if (codeOf(error) !== 'ENOENT' || existsSync(folder)) throw error;
      const missing = new Error(`The folder ${folder} does not exist: create it.`, {
        cause: error,
      });
      throw Object.assign(missing, { code: 'ENOENT', syscall: 'open', path: folder });
    }
    if (other === undefined) {
      // Written, not touched: the time is then that of the file server, as it is for those who look
      // at it.
      const beat = () => void writeFile(mine, text, { flag: 'r+' }).catch(() => {});
      const timer = setInterval(beat, heartbeatMs).unref();
      const unlock = async (): Promise<void> => {
        clearInterval(timer);
        await rm(mine, { force: true });
      };
      return Object.assign(unlock, { check });
    }
    await rm(mine, { force: true });
    // A claim of this process may be given up at this moment: a pipeline fails before its sink has
    // ended.
    const isBrief = other.age < youngMs || other.owner?.pid === process.pid;
    if (attempt === 5 || !isBrief) throw new FileLockedError(other.file, other.owner);
    await delay(10 + Math.random() * 60 * attempt);
  }
}

interface Claim {
  readonly file: string;
  readonly owner: LockOwner | null;
  /** Milliseconds since its last sign of life, by the clock of the file server. */
  readonly age: number;
}

const claimName = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(\.new)?$/;

/** A claim of another run that is alive, the oldest one. Removes those that are dead. */
async function livingClaim(path: string, mine: string): Promise<Claim | undefined> {
  const folder = dirname(resolve(path));
  const start = `${basename(path)}.`;
  const { mtimeMs: now } = await stat(mine);
  const living: Claim[] = [];
  for (const entry of await readdir(folder)) {
    const file = join(folder, entry);
    const [claim, unfinished] = claimName.exec(entry.slice(start.length)) ?? [];
    if (!entry.startsWith(start) || claim === undefined || file === resolve(mine)) continue;
    try {
      const owner = unfinished === undefined ? readOwner(readSmallFile(file).text) : null;
      const age = now - (await stat(file)).mtimeMs;
      const isLiving = (owner === null ? null : isRunning(owner)) ?? age < staleMs;
      if (!isLiving) await rm(file, { force: true });
      else if (unfinished === undefined) living.push({ file, owner, age });
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }

  return living.sort((a, b) => b.age - a.age)[0];
}

/** Who holds a lock: the contents of a claim. */
export interface LockOwner {
  /** Different for each lock that was ever taken. */
  readonly token: string;
  /** Name of its machine or container. */
  readonly host: string;
  /** Id of the process. */
  readonly pid: number;
  /**
   * The running kernel and the set of process ids that `pid` belongs to: containers have sets of
   * their own. Null if unknown.
   */
  readonly machine: string | null;
  /** When the process began, by the kernel: process ids are used again. Null if unknown. */
  readonly began: string | null;
}

/** This process, as the owner of a new lock. */
export function newOwner(): LockOwner {
  return {
    token: randomUUID(),
    host: hostname(),
    pid: process.pid,
    machine: machineHere(),
    began: beginOf(process.pid),
  };
}

/** The owner that a claim names; null for a text that names none. */
export function readOwner(text: string): LockOwner | null {
  try {
    const owner = JSON.parse(text) as LockOwner;
    return typeof owner.token === 'string' && Number.isInteger(owner.pid) ? owner : null;
  } catch {
    return null;
  }
}

/** What a second writer is told, the same for everything that has one writer at a time. */
export function inUseBy(what: string, { pid, host }: Pick<LockOwner, 'pid' | 'host'>): string {
  return `Process ${pid} on ${host} is writing to ${what}. Run it again when that process has ended.`;
}

/**
 * Whether the owner runs. Null when only its signs of life can tell: it is on another machine or in
 * another container.
 */
export function isRunning({ pid, machine, began }: LockOwner): boolean | null {
  if (machine === null || machine !== machineHere()) return null;
  const beganHere = beginOf(pid);
  if (began !== null && beganHere !== null) return began === beganHere;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function machineHere(): string | null {
  // Without numbers of the kernel, another container with the same name cannot be told apart.
  if (process.platform !== 'linux') return hostname();
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null;
  }
}

/**
 * When a process began, in ticks since the machine did; null when there is no such process or the
 * system does not say.
 */
function beginOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // A process that has ended stays listed until its parent takes note, which in a container may
    // be never.
    return fields[0] === 'Z' ? 'ended' : (fields[19] ?? null);
  } catch {
    return null;
  }
}
