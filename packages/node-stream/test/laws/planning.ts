import { expect } from 'vitest';
import { type History, playHistory, type Regime, regimes } from '../simulator/history.ts';

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

  expect(whole / count).toBeGreaterThanOrEqual(wholeParts[of]);
}

/**
 * A reader that gives up would keep the laws as well: where a read can be proved, it is. What is
 * removed in between is told, too.
 */
const wholeParts: Readonly<Record<Regime, number>> = {
  'one page a slice': 0.55,
  'a full second': 0.45,
  replicas: 0.65,
  'lagging totals': 0.55,
  'no totals': 0,
  'unstable order': 0.35,
  'a ghost in the count': 0,
  'totals of the page': 0.3,
  'huge totals': 0,
  'ranges ignored': 0.1,
  'the clock is put on': 1,
  'the clock is put back': 1,
  'fractions of seconds': 0.55,
  cursors: 0.1,
  'cursors without totals': 0,
  'empty pages': 0,
  'capped rows': 0.4,
  'pages repeated': 0.2,
  'rows doubled': 0.5,
  'a call at two times': 0,
  'a first answer that counts more': 0,
  'a calm list': 0.9,
  'records removed': 0.4,
  'late records': 0.8,
  'quiet times': 0.3,
  'rows doubled and counted once': 0.3,
  'totals that stop at a number': 0.3,
  'no total on the last page': 0.5,
  'totals dropped now and then': 0.3,
  'quiet times and huge totals': 0,
};
