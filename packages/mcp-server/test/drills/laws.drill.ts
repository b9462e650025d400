import { describe, it } from 'vitest';
import {
  anyArgumentsGiveAUsableResult,
  anyRecordsGiveASafeResult,
  pagingReturnsEveryCallOnce,
} from '../support/laws.ts';

describe('over many random cases, every result', () => {
  it('is valid, within the budget and usable, whatever the arguments are', () =>
    anyArgumentsGiveAUsableResult(5000));

  it('is valid, within the budget and on one line with its fences intact, whatever the records hold', () =>
    anyRecordsGiveASafeResult(2000));

  it('is part of a list without gaps or repeats', () => pagingReturnsEveryCallOnce(500));
});
