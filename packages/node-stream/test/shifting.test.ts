import { test } from 'vitest';
import { readsMovingLists } from './laws/shifting.ts';

test('each record of a list that moves is read once, whatever moves where', () =>
  readsMovingLists(Number(process.env.CALLS_RUNS ?? 30)));
