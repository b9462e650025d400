// Texts of records against patterns with wildcards, as conditions and rules of people have them.
// Not a regular expression: many wildcards would make that try all places that each of them could
// have, which takes minutes for a text of 80 letters.

/** Stands for texts that are not written out. */
export interface Wildcard {
  /** Which texts: those of one character, or all. */
  readonly any: 'character' | 'text';
}

/** Any one character of a text. */
export const anyCharacter: Wildcard = { any: 'character' };
/** Any characters of a text, or none. */
export const anyText: Wildcard = { any: 'text' };

/** A part of a pattern: a text as it is, or a wildcard. */
export type PatternPart = string | Wildcard;

/**
 * What is between two wildcards for any text: texts, and wildcards for one character. All but the
 * first of a pattern begin with a text.
 */
type Piece = PatternPart[];

/**
 * Makes what tells whether a whole text has the form of a pattern. It takes steps in proportion to
 * the length of the text, and at worst to that of the pattern too.
 *
 * @example
 * const isOffer = compilePattern([anyText, 'offer', anyText]);
 */
export function compilePattern(parts: readonly PatternPart[]): (text: string) => boolean {
  const head: Piece = [];
  const pieces: Piece[] = [head];
  for (const part of parts) {
    const last = pieces.at(-1) ?? head;
    const isBegun = last.length > 0 || last === head;
    if (part === anyText) {
      if (isBegun) pieces.push([]);
    } else if (part === anyCharacter && !isBegun) {
      // One character after any text may as well come before it.
      pieces.at(-2)?.push(part);
    } else if (part !== '') last.push(part);
  }

  if (pieces.length === 1) return (text) => endOf(head, text, 0) === text.length;
  const tail = (pieces.at(-1) ?? []).toReversed();
  const between = pieces.slice(1, -1);
  return (text) => {
    let at = endOf(head, text, 0);

    // The first place of each piece leaves the most for those after it.
    for (const piece of between) {
      if (at < 0) return false;
      at = endOfFirst(piece, text, at);
    }

    return at >= 0 && startOfLast(tail, text) >= at;
  };
}

/** Where a piece ends that begins here; -1 when it does not. */
function endOf(piece: Piece, text: string, from: number): number {
  let at = from;
  for (const part of piece) {
    if (typeof part === 'string') {
      if (!text.startsWith(part, at)) return -1;
      at += part.length;
    } else {
      if (at >= text.length) return -1;
      at += widthAt(text, at);
    }
  }

  return at;
}

/** Where a piece that begins with a text ends for the first time; -1 when it does not. */
function endOfFirst(piece: Piece, text: string, from: number): number {
  const begin = piece[0] as string;
  for (let at = text.indexOf(begin, from); at >= 0; at = text.indexOf(begin, at + 1)) {
    const end = endOf(piece, text, at);
    if (end >= 0) return end;
  }

  return -1;
}

/** Where a piece begins that ends with the text; -1 when it does not. Its last part comes first. */
function startOfLast(reversed: Piece, text: string): number {
  let at = text.length;
  for (const part of reversed) {
    if (typeof part === 'string') at = text.endsWith(part, at) ? at - part.length : -1;
    else at -= at > 1 && widthAt(text, at - 2) === 2 ? 2 : 1;
    if (at < 0) return -1;
  }

  return at;
}

/** A character may be two units of a string. */
const widthAt = (text: string, at: number): 1 | 2 => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
