import { link, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { readSmallFile } from '@call-attribution/core/settings';
import { FileLockedError } from '../errors.ts';
import { isRunning, type LockOwner, newOwner, readOwner } from './lock-owner.ts';
import { hasCode } from './own-file.ts';

/** Releases a lock. */
export interface Unlock {
  /** Releases the lock; does nothing to a lock that was lost. */
  (): Promise<void>;
  /** Throws a `FileLockedError` when the lock was taken over, because this process gave no sign of life for too long. */
  check(): Promise<void>;
}

const lockOptions = defineOptions({
  /** Time between two signs of life. Default `10s`. */
  heartbeat: option.duration().default('10s'),
  /**
   * Time without a sign of life after which the lock of another machine or container is taken over. On
   * the same machine it is known whether the owner still runs, and this does not count. Default `1m`.
   */
  stale: option.duration().default('1m'),
});

/** Options of `lockFile`. */
export interface FileLockOptions extends OptionsOf<typeof lockOptions> {}

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
export async function lockFile(path: string, options: FileLockOptions = {}): Promise<Unlock> {
  const { heartbeat, stale } = lockOptions.read(options);
  const owner = newOwner();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const claim = await take(path, owner, stale);
    if (claim !== null) return held(path, claim, heartbeat);
    // Several runs saw each other and all stepped back.
    await delay(10 + Math.random() * 60 * (attempt + 1));
  }
  throw new FileLockedError(path, null);
}

/** Id of the process that holds a lock file. Null when there is no lock, or when its process no longer runs. */
export async function lockOwner(path: string): Promise<number | null> {
  const owners = (await claimsOn(path).catch(() => [])).map(({ owner }) => owner);
  return owners.find((owner) => owner !== null && isRunning(owner) !== false)?.pid ?? null;
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
    const turn =
      entry === name ? 0 : Number(entry.startsWith(`${name}.`) ? entry.slice(name.length + 1) : '');
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
