import type { Condition, Test } from './condition.ts';

// A masked call says something else than the call itself: nobody has the number of the office in it.
// So tests of definitions are judged before calls are masked, and where the masked call would say
// something else, the truth is kept with it. Where none is kept it is judged as it is.

/** How the truth of a test is kept. */
const written = new Map<string, boolean | null>([
  ['1', true],
  ['0', false],
  ['-', null],
]);
const asIs = '.';

/** What tests say of a call where they say something else of its masked form; null where they do not. */
export function writtenTruths(
  before: readonly (boolean | null)[],
  after: readonly (boolean | null)[],
): string | null {
  const own = before.map((truth, at) => {
    if (truth === after[at]) return asIs;
    return [...written].find(([, each]) => each === truth)?.[0] ?? asIs;
  });
  return own.every((each) => each === asIs) ? null : own.join('');
}

/** What the test at a place says, where that is kept with a masked call. */
export const truthAt = (truths: unknown, at: number): boolean | null | undefined =>
  typeof truths === 'string' ? written.get(truths.charAt(at)) : undefined;

/** A condition in which some tests are judged early. `place` gives each of these its place. */
export function withJudged(condition: Condition, place: (test: Test) => number | null): Condition {
  if ('parts' in condition)
    return { ...condition, parts: condition.parts.map((part) => withJudged(part, place)) };
  if (condition.kind === 'not') return { kind: 'not', part: withJudged(condition.part, place) };
  const at = condition.kind === 'judged' ? null : place(condition);
  if (condition.kind === 'judged' || at === null) return condition;
  return { kind: 'judged', field: condition.field, at, test: condition };
}
