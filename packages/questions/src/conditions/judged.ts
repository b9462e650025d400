import type { Condition, Test } from './condition.ts';

// A masked call says something else than the call itself: nobody has the number of the office in it.
// So tests of definitions are judged before calls are masked, and where the masked call would say
// something else, it has the verdict. Where it has none it is judged as it is.

/** The characters of verdicts. */
const written = new Map<string, boolean | null>([
  ['1', true],
  ['0', false],
  ['-', null],
]);
const asIs = '.';

/** The verdicts of tests on a call that are not those on its masked form; null where all are. */
export function writtenVerdicts(
  before: readonly (boolean | null)[],
  after: readonly (boolean | null)[],
): string | null {
  const own = before.map((verdict, at) => {
    if (verdict === after[at]) return asIs;
    return [...written].find(([, each]) => each === verdict)?.[0] ?? asIs;
  });
  return own.every((each) => each === asIs) ? null : own.join('');
}

/** The verdict of the test at a place, where a masked call has one of its own. */
export const verdictAt = (verdicts: unknown, at: number): boolean | null | undefined =>
  typeof verdicts === 'string' ? written.get(verdicts.charAt(at)) : undefined;

/** A condition in which some tests are judged early. `place` gives each of these its place. */
export function withJudged(condition: Condition, place: (test: Test) => number | null): Condition {
  if ('parts' in condition)
    return { ...condition, parts: condition.parts.map((part) => withJudged(part, place)) };
  if (condition.kind === 'not') return { kind: 'not', part: withJudged(condition.part, place) };
  const at = condition.kind === 'judged' ? null : place(condition);
  if (condition.kind === 'judged' || at === null) return condition;
  return { kind: 'judged', field: condition.field, at, test: condition };
}
