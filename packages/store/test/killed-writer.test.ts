import { testStores } from '@call-attribution/test-tools';
import { describe, test } from 'vitest';
import { killWriters } from './killed-writer.ts';

// Many more kills are in drills/killed-writer.drill.ts.
describe.each(testStores())('a $kind store', ({ newUrl }) => {
  test('it loses no acknowledged batch when its writer is killed, and its counts stay exact', async () => {
    await killWriters(await newUrl(), 1);
  });
});
