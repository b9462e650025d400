import { expect, test } from 'vitest';
import { addressOf, readAddress } from '../browser/state.ts';

test.each(['28d', '45d', 'month', 'previous', 'all'])('the address of the page keeps the time %s', (name) => {
  expect(readAddress(`#last=${name}`).preset).toBe(name);
  expect(addressOf(readAddress(`#last=${name}`))).toBe(`#last=${name}`);
});

test.each(['last month', '2026-Q3', '0d', 'foo', ''])(
  'the time %j in an address is that at first, never all time',
  (name) => {
    expect(readAddress(`#${new URLSearchParams({ last: name })}`).preset).toBe('28d');
  },
);
