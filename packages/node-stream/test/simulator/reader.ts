// What the simulator plays with: also the entry of a reader with a mistake in it.
export { Misplaced } from '../../src/reader/list.ts';
export { Reading } from '../../src/reading.ts';
export { Totals } from '../../src/totals.ts';
