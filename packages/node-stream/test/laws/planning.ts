import { expect } from 'vitest';
import { type History, playHistory, type Regime, regimes } from '../simulator/history.ts';

/** Plays histories; none of them loses a record, delivers one twice, or is complete when it is not. Where it can, a read ends. */
export function playHistories(
  of: Regime,
  count: number,
  onHistory: (history: History) => void = () => {},
): void {
  const at = regimes.indexOf(of);
  let complete = 0;
  let cutOff = 0;
  for (let i = 0; i < count; i += 1) {
    const seed = i * regimes.length + at;
    const history = playHistory(seed);
    onHistory(history);
    const { violations, isComplete, runs } = history;
    if (violations.length > 0) throw new Error(`history ${seed}, ${of}: ${violations.join('; ')}`);
    if (isComplete) complete += 1;
    // One history in some hundred thousand has a request that fails for good in each of its twenty runs.
    if (runs.every(({ failure }) => failure?.kind === 'request')) cutOff += 1;
  }
  const [least, most] = completeParts[of];
  const part = complete / (count - cutOff);
  expect(part).toBeGreaterThanOrEqual(least);
  expect(part).toBeLessThanOrEqual(most);
}

/** A reader that gives up would keep the laws as well: where a read can be completed, it is. */
const completeParts: Readonly<Record<Regime, readonly [least: number, most: number]>> = {
  'one page a slice': [1, 1],
  'several pages a slice': [0.95, 1],
  'one list': [0.9, 1],
  replicas: [1, 1],
  'lagging totals': [0, 1],
  'no totals': [0, 0],
  'unstable order': [0.3, 1],
  'a ghost in the count': [0, 1],
  'ranges ignored': [0, 1],
  'the clock is changed': [1, 1],
  cursors: [0.5, 1],
  'cursors without totals': [0, 0.2],
  'empty pages': [0, 0.2],
  'a cap': [0.5, 1],
  'late records': [0.95, 1],
};
