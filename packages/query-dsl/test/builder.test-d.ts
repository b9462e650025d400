import { describe, expectTypeOf, it } from 'vitest';
import { allOf, type Filter, type FilterInput, matcher, printFilter, where } from '../src/index.ts';

describe('the types of the builder', () => {
  it('accept only bounds of the type of the field', () => {
    where('date_added').from('2024-01-01 00:00:00');
    where('talk_minutes').atLeast(2);
    where('talk_minutes').atLeast('2.5');

    // @ts-expect-error a number is not a bound of a date
    where('date_added').from(5);

    // @ts-expect-error a Date is no time on the account's clock
    where('date_added').from(new Date(0));

    // @ts-expect-error a date is not a bound of a number
    where('talk_minutes').atLeast('2024-01-01 00:00:00');

    // @ts-expect-error a Date is not a bound of a number
    where('talk_minutes').atLeast(new Date(0));

    // @ts-expect-error there is no such field
    where('tlk_minutes');

    // @ts-expect-error inc_gce has no range
    where('inc_gce');
  });

  it('know that a range without a bound is no filter', () => {
    expectTypeOf(where('talk_minutes')).not.toExtend<FilterInput>();
    // @ts-expect-error it has no bound
    matcher(where('talk_minutes'));
    // @ts-expect-error it has no bound
    allOf(where('talk_minutes'));
    matcher(where('talk_minutes').atLeast(2));
  });

  it('allow each end to be set only once', () => {
    where('talk_minutes').atLeast(2).below(5);
    // @ts-expect-error the lower bound is set
    where('talk_minutes').atLeast(2).above(3);
    // @ts-expect-error the upper bound is set
    where('talk_minutes').atMost(2).below(3);
  });

  it('produce filters', () => {
    expectTypeOf(where('talk_minutes').atLeast(2)).toExtend<Filter>();
    expectTypeOf(printFilter).parameter(0).toEqualTypeOf<FilterInput>();
  });
});
