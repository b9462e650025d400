import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { test } from 'vitest';
import { resumesAnywhere } from '../laws/checkpoint.ts';
import { readsInTurns } from '../laws/cut-turns.ts';
import { readsHostileServers } from '../laws/hostile.ts';
import { readsMovingLists } from '../laws/shifting.ts';
import { wholeEvents, wholeIsWhole } from '../laws/stretches.ts';
import { syncsThroughCrashes } from '../laws/sync.ts';

// The laws of the normal tests, with many more runs.

const movingLists = openDrill({
  name: 'moving-lists',
  kind: 'moving lists',
  what: 'Records are inserted, removed, swapped and changed while a list is read, page by page; each record that stayed comes once',
});
test('each record of a moving list is read once, whatever moves where', () =>
  readsMovingLists(rounds(80, 3000), movingLists));

const stoppedReads = openDrill({
  name: 'stopped-reads',
  kind: 'stops',
  what: 'A read is stopped after any page and resumed from its checkpoint, over and over; each record comes once and in order',
});
test('a later stream resumes after the last page taken, and each record comes once', () =>
  resumesAnywhere(rounds(80, 2000), stoppedReads));

const hostileServers = openDrill({
  name: 'hostile-servers',
  kind: 'cut connections',
  what: 'A server resets connections, cuts bodies, sends HTML, wrong pages and errors, and moves its records; each record comes once',
});
test('a hostile server is read completely, each record once', () =>
  readsHostileServers(rounds(20, 400), hostileServers));

const crashedSyncs = openDrill({
  name: 'crashed-syncs',
  kind: 'kills',
  what: 'A sync fails at any commit while the server goes on; in the end the store holds what the server has',
});
test('the store ends with the records of the server, whenever a run dies', () =>
  syncsThroughCrashes(rounds(60, 1500), crashedSyncs));

const wholeCopies = openDrill({
  name: 'whole-copies',
  kind: 'random histories',
  what: 'Lists are short, lag, lose and regain calls while syncs are cut and ask for other times and filters; a copy that calls itself whole has every call that the server had when it was counted, but for swaps inside one count',
});
test('a copy that calls itself whole has every call that the server had when it was counted', async () => {
  await wholeIsWhole(rounds(1000, 20_000), wholeCopies);
  const { [wholeEvents.whole]: whole = 0, [wholeEvents.swapped]: swapped = 0 } = wholeCopies.events;
  const share = ((100 * swapped) / Math.max(1, whole)).toFixed(2);
  process.stdout.write(
    `swaps inside one counted stretch: ${swapped} of ${whole} copies that call themselves whole (${share}%)\n`,
  );
});

const cutReads = openDrill({
  name: 'cut-first-reads',
  kind: 'stops',
  what: 'A first read is cut into turns of some pages, or killed again and again; it ends, with at most 1.1 times the requests of one turn, and one for each turn, four where it is aborted',
});
test.each([
  ['turns of 3 pages', { maxPages: 3 }],
  ['turns of 10 pages', { maxPages: 10 }],
  ['turns of 10 pages, newest first', { maxPages: 10, order: 'newest' as const }],
  ['turns of 3 pages of a server that gives fewer rows', { maxPages: 3, rows: 60, clamp: 25 }],
  ['turns of 10 pages of a server in no order', { maxPages: 10, isMixed: true }],
  ['turns that are killed', { dies: 20 }],
  ['turns that are aborted after 20 pages', { aborts: 20 }],
])(
  'a first read in %s ends, with at most 1.1 times the requests of one turn, and one for each turn, four where it is aborted',
  (_, cut) => cutReads.run(() => readsInTurns({ calls: 6_000, rows: 25, ...cut }, cutReads)),
);
