import { testStores } from '@call-attribution/test-tools';
import { describe, test } from 'vitest';
import { agreesWithNaiveSql } from '../naive-sql.ts';

const runs = Number(process.env.CALLS_RUNS ?? 500);

describe.each(testStores())('a $kind store', ({ newUrl }) => {
  test(`it returns what naive SQL returns, after ${runs} random histories of writes`, async () => {
    await agreesWithNaiveSql(await newUrl(), runs);
  });
});
