import { describe, it } from 'vitest';
import { anyArgumentsGiveAUsableResult, anyRecordsGiveASafeResult } from './support/laws.ts';

const runs = Number(process.env.CALLS_RUNS ?? 50);

describe('every result', () => {
  it('is valid, within the budget and usable, whatever the arguments are', () =>
    anyArgumentsGiveAUsableResult(runs));

  it('is valid, within the budget and on one line with its fences intact, whatever the records hold', () =>
    anyRecordsGiveASafeResult(runs));
});
