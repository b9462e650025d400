import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

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
