import { test } from 'vitest';
import { readsMovingLists, readsMovingPages } from './laws/shifting.ts';

const runs = Number(process.env.CALLS_RUNS ?? 30);

test('each record of a list that moves is read once, whatever moves where', () => readsMovingLists(runs));

test('seconds of several pages are read completely, or the verdict says that they are not', () =>
  readsMovingPages(runs));
