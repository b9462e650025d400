import { CheckpointError } from '../errors.ts';
import { isSealed, seal } from '../reader/seal.ts';
import type { Left } from './run.ts';

/** The part of a checkpoint that belongs to the operators of a chain. */
export interface SavedChain {
  /** The operators with what of their settings decides about their output, each as JSON. */
  readonly of: readonly string[];
  /** What each of them keeps. */
  readonly states: readonly unknown[];
  /** Items that were read, but not delivered. */
  readonly left: readonly Left[];
  /** A checksum over position and chain. */
  readonly seal: string;
}

/** How far a read through operators came: the position of its source, and what the operators keep. Plain JSON. */
export interface ChainCheckpoint {
  /** What belongs to the operators. */
  readonly chain?: unknown;
}

interface Described {
  readonly kind: string;
  readonly settings: unknown;
}

const describe = ({ kind, settings }: Described): string => JSON.stringify([kind, settings ?? null]);

/** The checkpoint of a chain. Null when the source has not said where it is. */
export function saveChain(
  position: unknown,
  operators: readonly Described[],
  { states, left }: Pick<SavedChain, 'states' | 'left'>,
): ChainCheckpoint | null {
  if (typeof position !== 'object' || position === null) return null;
  const of = operators.map(describe);
  const { seal: sum } = seal({ ...position, of, states, left });
  return { ...position, chain: { of, states, left, seal: sum } };
}

/** Where a chain goes on. Throws for a checkpoint that was changed, or that belongs to another chain. */
export function chainPosition(
  checkpoint: unknown,
  operators: readonly Described[],
): { readonly position: unknown } & Pick<SavedChain, 'states' | 'left'> {
  if (checkpoint === null || checkpoint === undefined) return { position: null, states: [], left: [] };
  const { chain, ...position } = checkpoint as ChainCheckpoint;
  const now = operators.map(describe);
  if (chain === undefined) {
    if (operators.length === 0) return { position: checkpoint, states: [], left: [] };
    throw otherChain('none', now[0]);
  }
  if (!isSavedChain(chain) || !isSealed({ ...position, ...chain }))
    throw new CheckpointError(
      'checkpoint_invalid',
      'The checkpoint is not as it was saved: its checksum differs. Pass what the chain or sink has saved, unchanged, or start without it.',
    );
  const { of, states, left } = chain;
  const other = [...now, ...of].findIndex((_, at) => now[at] !== of[at]);
  if (other >= 0) throw otherChain(of[other], now[other]);
  return { position, states, left };
}

/** Names of settings only: their values may be a caller's data. */
const nameOf = (described: string | undefined): string =>
  described === undefined ? 'nothing' : (/^\["([^"]*)"/.exec(described)?.[1] ?? 'nothing');

function otherChain(saved: string | undefined, now: string | undefined): CheckpointError {
  const isSame = nameOf(saved) === nameOf(now);
  return new CheckpointError(
    'checkpoint_invalid',
    isSame
      ? `The checkpoint belongs to another chain: the settings of ${nameOf(now)} are not those of the earlier run. Use the same operators, columns and encoders, or start without the checkpoint.`
      : `The checkpoint belongs to another chain: it has ${nameOf(saved)} where this one has ${nameOf(now)}. Use the same operators, columns and encoders, or start without the checkpoint.`,
  );
}

/** Whether a value has the form of what a chain saves. */
export function isSavedChain(value: unknown): value is SavedChain {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['of', 'states', 'left', 'seal'].every((name) => name in value) &&
    'of' in value &&
    Array.isArray(value.of)
  );
}
