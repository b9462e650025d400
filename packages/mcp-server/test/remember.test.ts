import { expect, it } from 'vitest';
import { remember, rememberByKind } from '../src/privacy/remember.ts';

it('keeps what is asked for often, and at most twice as many values as it is told', () => {
  const made: number[] = [];
  const squared = remember(10, (value: number) => {
    made.push(value);
    return value * value;
  });
  for (let i = 1; i <= 1000; i += 1) expect([squared(0), squared(i)]).toEqual([0, i * i]);
  expect(made.filter((value) => value === 0)).toEqual([0]);
  expect(made).toHaveLength(1001);
  made.length = 0;
  for (let i = 1; i <= 1000; i += 1) squared(i);
  expect(made.length).toBeGreaterThanOrEqual(980);
});

it('keeps equal values of different kinds apart', () => {
  const named = rememberByKind((kind, value) => `${kind} ${value}`);
  expect([named('a', '1'), named('b', '1'), named('a', '1')]).toEqual(['a 1', 'b 1', 'a 1']);
});
