import { expect } from 'vitest';
import {
  type History,
  leastWhole,
  playHistory,
  type Regime,
  regimes,
} from '../simulator/history.ts';

/**
 * Plays histories; none of them loses a record, delivers one twice, or is whole when it is not.
 * Where it can, a read is whole.
 */
export async function playHistories(
  of: Regime,
  count: number,
  onHistory: (history: History) => void = () => {},
): Promise<void> {
  const at = regimes.indexOf(of);
  let whole = 0;
  for (let i = 0; i < count; i += 1) {
    const seed = i * regimes.length + at;
    const history = await playHistory(seed);
    onHistory(history);
    const { violations, verdict } = history;
    if (violations.length > 0) throw new Error(`history ${seed}, ${of}: ${violations.join('; ')}`);
    if (verdict?.proof === 'whole') whole += 1;
  }

  expect(whole / count).toBeGreaterThanOrEqual(leastWhole(of));
}
