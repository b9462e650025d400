import { createHash } from 'node:crypto';

/** Longer keys are too much for an index of PostgreSQL. */
const longest = 500;

/**
 * What a call is found by in the database, such as its sid or its caller: the text itself, if every database can hold it.
 * PostgreSQL takes neither NUL nor half of a surrogate pair, so these are escaped by a backslash, as is the backslash itself.
 * Different texts have different keys.
 */
export function keyOf(text: string): string {
  if (text.length <= longest && !/[\0\\\ud800-\udfff]/.test(text)) return text;
  const key = text.replace(
    /[\0\\]|\p{Surrogate}/gu,
    (character) => `\\${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return key.length <= longest ? key : `\\#${createHash('sha256').update(key).digest('hex')}`;
}
