import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { link, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readSmallFile } from '@call-attribution/core/settings';
import { FileLockedError } from '../errors.ts';
import { hasCode } from './own-file.ts';

/** Releases a lock. */
export interface Unlock {
  /** Releases the lock; does nothing to a lock that was lost. */
  (): Promise<void>;
  /** Throws a `FileLockedError` when the lock was taken over, because this process gave no sign of life for too long. */
  check(): Promise<void>;
}

/** Options of `lockFile`, in milliseconds. */
export interface FileLockOptions {
  /** Time between two signs of life. Default 10 seconds. */
  heartbeat?: number;
  /**
   * Time without a sign of life after which the lock of another machine or container is taken over. On
   * the same machine it is known whether the owner still runs, and this does not count. Default one minute.
   */
  stale?: number;
}

interface Claim {
  readonly file: string;
  /** 0 for the lock file itself; one more each time the lock of a run that died is taken over. */
  readonly turn: number;
  readonly owner: LockOwner | null;
  readonly beatAt: number;
}

/**
 * Keeps other runs out, on this machine and on others that share the folder, and returns the function that lets go. The
 * lock of a process that no longer runs is taken over, by exactly one. Throws `FileLockedError` when another run holds it.
 *
 * @example
 * const unlock = await lockFile('state.json.lock');
 * try {
 *   await work();
 * } finally {
 *   await unlock();
 * }
 */
export async function lockFile(
  path: string,
  { heartbeat = 10_000, stale = 60_000 }: FileLockOptions = {},
): Promise<Unlock> {
  const owner = newOwner();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const claim = await take(path, owner, stale);
    if (claim !== null) return held(path, claim, heartbeat);
    // Several runs saw each other and all stepped back.
    await delay(10 + Math.random() * 60 * (attempt + 1));
  }
  throw new FileLockedError(path, null);
}

/**
 * Takes the lock, or returns null when another run was doing so. A dead claim is never replaced, since two runs could do
 * that one after the other. Instead the next turn is claimed, which the file system gives to one run only; after that,
 * the winner makes sure that all other claims are dead, and steps back if they are not.
 */
async function take(path: string, owner: LockOwner, staleMs: number): Promise<string | null> {
  const before = await claimsOn(path);
  const dead = await deadAmong(before, path, staleMs);
  const turn = 1 + Math.max(-1, ...before.map((claim) => claim.turn));
  const file = turn === 0 ? path : `${path}.${turn}`;
  if (!(await create(file, owner))) return null;
  const others = (await claimsOn(path)).filter((claim) => claim.file !== file);
  if (others.some((claim) => !dead.has(nameOf(claim)))) {
    await rm(file, { force: true });
    return null;
  }
  for (const other of others) await rm(other.file, { force: true });
  return file;
}

/** The names of the claims, all of which are dead. Throws when one is alive. */
async function deadAmong(
  claims: readonly Claim[],
  path: string,
  staleMs: number,
): Promise<ReadonlySet<string>> {
  const dead = new Set<string>();
  for (const claim of claims) {
    const { file, owner, beatAt } = claim;
    const isHere = owner === null ? null : isRunning(owner);
    if (isHere === true) throw new FileLockedError(file, owner);
    if (isHere === null && (await fileTime(path)) - beatAt < staleMs) throw new FileLockedError(file, owner);
    dead.add(nameOf(claim));
  }
  return dead;
}

/** What tells a claim from a later one in the same file. One that cannot be read was left by a run that died writing it. */
function nameOf({ file, owner, beatAt }: Claim): string {
  return owner?.token ?? [file, beatAt].join();
}

async function claimsOn(path: string): Promise<Claim[]> {
  const [folder, name] = [dirname(resolve(path)), basename(path)];
  const claims: Claim[] = [];
  for (const entry of await readdir(folder)) {
    if (entry !== name && !entry.startsWith(`${name}.`)) continue;
    const turn = entry === name ? 0 : Number(entry.slice(name.length + 1));
    if (!Number.isInteger(turn) || turn < 0 || (turn === 0 && entry !== name)) continue;
    const file = join(folder, entry);
    try {
      const [{ text }, { mtimeMs }] = [readSmallFile(file), await stat(file)];
      claims.push({
        file: turn === 0 ? path : `${path}.${turn}`,
        turn,
        owner: readOwner(text),
        beatAt: mtimeMs,
      });
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
  return claims;
}

/** Creates a claim with its contents at once, so that nobody sees an empty one. False when it exists. */
async function create(file: string, owner: LockOwner): Promise<boolean> {
  const text = JSON.stringify(owner);
  const provisional = `${file}-${owner.token}`;
  try {
    const handle = await open(provisional, 'wx');
    await handle.writeFile(text);
    await handle.close();
    await link(provisional, file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].some((code) => hasCode(error, code))) throw error;
  } finally {
    await rm(provisional, { force: true });
  }
  // A file system without links.
  try {
    const handle = await open(file, 'wx');
    await handle.writeFile(text);
    await handle.close();
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** The time by the clock that signs of life are written with, which may be that of a file server. */
async function fileTime(path: string): Promise<number> {
  const probe = `${path}-${newOwner().token}`;
  await (await open(probe, 'wx')).close();
  const { mtimeMs } = await stat(probe);
  await rm(probe, { force: true });
  return mtimeMs;
}

async function held(path: string, file: string, heartbeatMs: number): Promise<Unlock> {
  const mine = await readFile(file, 'utf8');
  const isMine = async () => (await readFile(file, 'utf8').catch(() => null)) === mine;
  const beat = async () => {
    if (!(await isMine())) return clearInterval(timer);
    // Written, not touched: the time is then that of the file server, as it is for those who look at it.
    const handle = await open(file, 'r+');
    await handle.write(mine, 0).finally(() => handle.close());
  };
  const timer = setInterval(() => void beat().catch(() => {}), heartbeatMs);
  timer.unref();
  const unlock = async () => {
    clearInterval(timer);
    if (await isMine()) await rm(file, { force: true });
  };
  const check = async () => {
    if (!(await isMine())) throw new FileLockedError(path, null, true);
  };
  return Object.assign(unlock, { check });
}

/** Who holds a lock file: its contents. */
export interface LockOwner {
  /** Different for each lock that was ever taken. */
  readonly token: string;
  /** Name of its machine or container. */
  readonly host: string;
  /** Id of the process. */
  readonly pid: number;
  /** The running kernel and the set of process ids that `pid` belongs to: containers have sets of their own. Null if unknown. */
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

/** The owner that a lock file names; null for a file that names none. */
export function readOwner(text: string): LockOwner | null {
  try {
    const owner: unknown = JSON.parse(text);
    return isOwner(owner) ? owner : null;
  } catch {
    return null;
  }
}

function isOwner(value: unknown): value is LockOwner {
  if (typeof value !== 'object' || value === null) return false;
  const { token, host, pid, machine, began }: { [name in keyof LockOwner]?: unknown } = value;
  return (
    typeof token === 'string' &&
    typeof host === 'string' &&
    Number.isInteger(pid) &&
    (machine === null || typeof machine === 'string') &&
    (began === null || typeof began === 'string')
  );
}

/** What a second writer is told, the same for everything that has one writer at a time. */
export function inUseBy(what: string, { pid, host }: Pick<LockOwner, 'pid' | 'host'>): string {
  return `Process ${pid} on ${host} is writing to ${what}. Run it again when that process has ended.`;
}

/** Whether the owner runs. Null when only its heartbeat can tell: it is on another machine or in another container. */
export function isRunning({ host, pid, machine, began }: LockOwner): boolean | null {
  if (machine !== machineHere() || (machine === null && host !== hostname())) return null;
  // Without numbers of the kernel, another container with the same name cannot be told apart.
  if (machine === null && process.platform === 'linux') return null;
  if (began !== null && beginOf(pid) !== null) return began === beginOf(pid);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function machineHere(): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null;
  }
}

/** When a process began, in ticks since the machine did; null when there is no such process or the system does not say. */
function beginOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A process that has ended stays listed until its parent takes note, which in a container may be never.
    return fields[0] === 'Z' ? 'ended' : (fields[19] ?? null);
  } catch {
    return null;
  }
}
