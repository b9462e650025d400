// What the simulator plays with: also the entry of a reader with a mistake in it.
export { Reading } from '../../src/reading.ts';
export { Misplaced } from '../../src/slices.ts';
export { Totals } from '../../src/totals.ts';
