import type { Value } from './condition.ts';

/** A text in which letters that differ only by case are the same: of the two lower-case sigmas there is one capital. */
export const fold = (text: string): string => text.toUpperCase();

/** The order of two values. What has no value comes last either way. */
export function compareValues(x: Value, y: Value, descending = false): number {
  if (x === y) return 0;
  if (x === null) return 1;
  if (y === null) return -1;
  return x < y === descending ? 1 : -1;
}

/** The pattern of a LIKE, for folded texts. */
export function likePattern(pattern: string): RegExp {
  const source = fold(pattern).replace(/\\?[\s\S]/gu, (part) => {
    if (part === '%') return '[\\s\\S]*';
    if (part === '_') return '[\\s\\S]';
    const character = part.length > 1 && part.startsWith('\\') ? part.slice(1) : part;
    return character.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  });
  return new RegExp(`^${source}$`, 'u');
}
