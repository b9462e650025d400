import { describe, test } from 'vitest';
import { readsMovingLists, readsMovingPages } from './laws/shifting.ts';

const runs = Number(process.env.CALLS_RUNS ?? 30);

describe('a list that moves while it is read', () => {
  test('each record is read once, whatever moves where', () => readsMovingLists(runs));

  test('seconds of several pages are read completely or reported as incomplete', () =>
    readsMovingPages(runs));
});
