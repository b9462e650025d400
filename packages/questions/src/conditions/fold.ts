import type { Value } from './condition.ts';

/** A text in which letters that differ only by case are the same. Each character becomes one character. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii(lower) && lower.length === text.length) return lower;
  let folded = '';
  for (const character of text) {
    // The one capital that becomes two characters, and the sigma, which depends on its place in a word, go one by one.
    const own = character === '\u0130' ? 'i' : character.toLowerCase();
    folded += own;
  }
  return folded;
}

const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 127) return false;
  return true;
};

/** The order of two texts by their characters: that of their UTF-8 bytes, which JavaScript's own order is not for rare ones. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    // Halves of pairs stand for characters above all others.
    const [isPairX, isPairY] = [x >= 0xd800 && x < 0xe000, y >= 0xd800 && y < 0xe000];
    return isPairX === isPairY ? x - y : Number(isPairX) - Number(isPairY);
  }
  return a.length - b.length;
}

/** The order of two values. What has no value comes last either way. */
export function compareValues(x: Value, y: Value, descending = false): number {
  if (x === y) return 0;
  if (x === null) return 1;
  if (y === null) return -1;
  const order = typeof x === 'string' && typeof y === 'string' ? compareText(x, y) : Number(x) - Number(y);
  return descending ? -order : order;
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
