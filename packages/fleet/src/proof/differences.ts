/** Places in a list, from `begin` up to before `end`. */
export interface IndexRange {
  readonly begin: number;
  readonly end: number;
}

/**
 * Finds the places whose number is not the expected one, from sums: it yields the places whose sum it wants to know, and is given it.
 * Of each half only the left one is asked, the right one is the rest. Differences that cancel each other out are not found.
 *
 * @param expected the numbers as they should be.
 * @param sum what their sum really is.
 */
export function* differences(
  expected: readonly number[],
  sum: number,
): Generator<IndexRange, number[], number> {
  const before = [0];
  for (const number of expected) before.push((before.at(-1) as number) + number);
  const found: number[] = [];
  const open = [{ begin: 0, end: expected.length, sum }];
  for (let places = open.pop(); places !== undefined; places = open.pop()) {
    const { begin, end } = places;
    if (begin === end || places.sum === (before[end] as number) - (before[begin] as number)) continue;
    if (end - begin === 1) {
      found.push(begin);
      continue;
    }
    const middle = (begin + end) >> 1;
    const left = yield { begin, end: middle };
    open.push({ begin: middle, end, sum: places.sum - left }, { begin, end: middle, sum: left });
  }
  return found;
}

/** Runs such a search to its end. */
export async function answer<T>(
  steps: Generator<IndexRange, T, number>,
  ask: (places: IndexRange) => Promise<number>,
): Promise<T> {
  let step = steps.next(0);
  while (!step.done) step = steps.next(await ask(step.value));
  return step.value;
}
