import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { test } from 'vitest';
import { copiesLive, exportsLive } from '../laws/lives.ts';

const timeout = 3_600_000;

/** Calls in one second, at most. */
const crowd = process.env.CALLS_DRILLS === 'long' ? 3000 : 300;

const copies = openDrill({
  name: 'lives-of-copies',
  kind: 'random histories',
  what: 'Syncs die at any request or commit, are cut, refuse calls and have clocks that jump, while calls are made, come late and change; a copy that is called whole has every call that was there when the run began, and in the end it is whole',
});
test(
  'copies that are called whole have every call, whatever became of earlier runs',
  { timeout },
  () => copiesLive(rounds(200, 2000), crowd, copies),
);

const exports = openDrill({
  name: 'lives-of-exports',
  kind: 'random histories',
  what: 'Exports by month die at any request or file and go on, while calls are made, come late and change; what is called whole has every call that was there when its month was read, once',
});
test(
  'exports that are called whole have every call once, whatever became of earlier runs',
  { timeout },
  () => exportsLive(rounds(100, 1000), crowd, exports),
);
