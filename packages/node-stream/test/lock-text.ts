import { newOwner } from '../src/files/index.ts';

/**
 * The contents of a lock on this machine; without `pid`, of a process that has ended. `began:
 * null`: not known.
 */
export function lockText(pid = 999_999_999, began: string | null = '1'): string {
  return JSON.stringify({ ...newOwner(), pid, began });
}

/** The file of a claim on a lock. */
export const claimOn = (path: string): string => `${path}.01234567-89ab-4cde-8f01-23456789abcd`;
