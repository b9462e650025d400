import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { describe, it } from 'vitest';
import {
  anyArgumentsGiveAUsableResult,
  anyRecordsGiveASafeResult,
  pagingReturnsEveryCallOnce,
} from '../support/laws.ts';

const wildArguments = openDrill({
  name: 'wild-arguments',
  kind: 'hostile clients',
  what: 'An assistant calls tools with any arguments; each result is valid, within its budget and says what to do next',
});
const hostileRecords = openDrill({
  name: 'hostile-records',
  kind: 'odd records',
  what: 'Records hold whatever a visitor may have typed; the results of the tools stay on one line, fenced and within their budget',
});
const pagedLists = openDrill({
  name: 'paged-lists',
  kind: 'random histories',
  what: 'An assistant pages through calls with any page size, budget and fields; each call comes once and in order',
});

describe('over many random cases, every result', () => {
  it('is valid, within the budget and usable, whatever the arguments are', () =>
    anyArgumentsGiveAUsableResult(rounds(400, 5000), wildArguments));

  it('is valid, within the budget and on one line with its fences intact, whatever the records hold', () =>
    anyRecordsGiveASafeResult(rounds(150, 2000), hostileRecords));

  it('is part of a list without gaps or repeats', () =>
    pagingReturnsEveryCallOnce(rounds(40, 500), pagedLists));
});
