import { test } from 'vitest';
import { playAnyPolicy } from './laws/any-policy.ts';

// Many more are in drills/planning.drill.ts.
test('200 histories lose no record, double none and are whole only when they are, whatever is chosen among what is allowed', () =>
  playAnyPolicy(200));
