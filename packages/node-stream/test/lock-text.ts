import { newOwner } from '../src/files/index.ts';

/** The contents of a lock on this machine; without `pid`, of a process that has ended. `began: null`: not known. */
export function lockText(pid = 999_999_999, began: string | null = '1'): string {
  return JSON.stringify({ ...newOwner(), pid, began });
}
