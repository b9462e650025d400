/**
 * Most levels of arrays and objects in a value that is stored. `JSON.parse` reads any number of
 * them, but `JSON.stringify` ends with the stack of the thread, which is at some thousands.
 */
const mostLevels = 1_000;

/** Is a value nested so deep that it could not be written again? */
export function isTooDeep(value: unknown): boolean {
  let level: object[] = isNested(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > mostLevels) return true;
    level = level.flatMap((one) => Object.values(one).filter(isNested));
  }
  return false;
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;
