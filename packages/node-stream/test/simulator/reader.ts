// What the simulator plays with: also the entry of a reader with a mistake in it.
export { Reading } from '../../src/next/reading.ts';
export { Misplaced } from '../../src/next/slices.ts';
