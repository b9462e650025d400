import { hash } from 'node:crypto';
import { CheckpointError } from './errors.ts';
import type { Checkpoint } from './page.ts';

/**
 * Adds a checksum over everything in an object, whatever the order of its names, as a database may
 * keep it.
 */
export function seal<T extends object>(value: T): T & { readonly seal: string } {
  return { ...value, seal: checksumOf(value) };
}

/** Whether an object is as it was sealed. */
export function isSealed(value: object): boolean {
  if (!('seal' in value)) return false;
  const { seal: found, ...rest } = value;
  return found === checksumOf(rest);
}

/** A checkpoint of a read. `chain`: what its operators keep. */
export function checkpointOf(of: string, read: unknown, chain: unknown = null): Checkpoint {
  return seal({ version: 1, of, read, chain } as const);
}

/** Refuses what is no checkpoint, was changed since it was saved, or belongs to another read. */
export function checkCheckpoint(value: unknown, of: string): Checkpoint {
  const checkpoint = value as Checkpoint;
  if (typeof value !== 'object' || value === null || checkpoint.version !== 1 || !isSealed(value))
    throw new CheckpointError(
      'checkpoint_invalid',
      'The checkpoint is not as it was saved: its checksum differs. Pass what was saved, unchanged, or start without it.',
    );

  if (checkpoint.of !== of)
    throw new CheckpointError(
      'checkpoint_invalid',
      'The checkpoint belongs to another read. Use the filter and the version it was made for, or start without it.',
    );

  return checkpoint;
}

/** Of the JSON of a value, with the names of objects in order. */
function checksumOf(value: object): string {
  const text = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
  return hash('sha256', text, 'hex').slice(0, 16);
}
