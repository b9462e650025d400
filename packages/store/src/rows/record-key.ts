import { createHash } from 'node:crypto';

/** Longer keys are too much for an index of PostgreSQL. */
const longest = 500;

/**
 * The key of a call in the database: its sid, if every database can hold it as it is. PostgreSQL takes neither NUL nor half of
 * a surrogate pair, so these are escaped by a backslash, as is the backslash itself. Different sids have different keys.
 */
export function keyOf(sid: string): string {
  if (sid.length <= longest && !/[\0\\\ud800-\udfff]/.test(sid)) return sid;
  const key = sid.replace(
    /[\0\\]|\p{Surrogate}/gu,
    (character) => `\\${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return key.length <= longest ? key : `\\#${createHash('sha256').update(key).digest('hex')}`;
}
