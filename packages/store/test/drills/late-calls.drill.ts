import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { readDuringLateCalls } from '../late-calls.ts';

// CALLS_RUNS=10000 for long.
const reads = Number(process.env.CALLS_RUNS ?? 500);

describe.each(testStores())('a $kind store', ({ kind, newUrl }) => {
  test(`${reads} reads under 250 late calls a second are whole`, async () => {
    const { runs, lost, doubled, lied, inserted } = await readDuringLateCalls(await newUrl(), reads, 250);
    process.stdout.write(
      `drill: ${kind}-late-calls runs=${runs} lost=${lost} doubled=${doubled} hung=0 lied=${lied} late=${inserted}\n`,
    );
    expect({ lost, doubled, lied }).toEqual({ lost: 0, doubled: 0, lied: 0 });
  });
});
