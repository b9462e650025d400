import { test } from 'vitest';
import { resumesAnywhere } from '../laws/checkpoint.ts';
import { readsHostileServers } from '../laws/hostile.ts';
import { readsMovingLists, readsMovingPages } from '../laws/shifting.ts';
import { syncsThroughCrashes } from '../laws/sync.ts';

// The laws of the normal tests, with many more runs. CALLS_RUNS replaces the number.
const runs = (usual: number): number => Number(process.env.CALLS_RUNS ?? usual);

test('each record of a moving list is read once, whatever moves where', () => readsMovingLists(runs(1000)));

test('slices of several pages are read completely or reported as incomplete', () =>
  readsMovingPages(runs(1000)));

test('a later stream resumes after the last record taken, and each record comes once', () =>
  resumesAnywhere(runs(600)));

test('a hostile server is read completely, each record once', () => readsHostileServers(runs(100)));

test('the store ends with the records of the server, whenever a run dies', () =>
  syncsThroughCrashes(runs(400)));
