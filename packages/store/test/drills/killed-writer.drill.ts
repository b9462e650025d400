import { testStores } from '@call-attribution/test-tools';
import { describe, test } from 'vitest';
import { killWriters } from '../killed-writer.ts';

const kills = Number(process.env.CALLS_DRILLS ?? 25);

describe.each(testStores())('a $kind store', ({ newUrl }) => {
  test(`it loses no acknowledged batch when its writer is killed ${kills} times`, async () => {
    await killWriters(await newUrl(), kills);
  });
});
