import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';

const dull = {
  date_added: '2024-01-01 08:00:00',
  talk_minutes: '1.5',
  ani: '5555550100',
  channel: 'Tracker',
  city: null,
  state: null,
  first_touch: null,
};

/** A call with what a test cares about. */
export const callOf = (part: Partial<Call> & { sid: string }): Call => ({
  ...(fixtureCalls(1)[0] as Call),
  ...dull,
  ...part,
});

/** Everything an iterable gives. */
export async function all<T>(source: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** The bytes an iterable gives, as text. */
export async function textOf(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<string> {
  return Buffer.concat(await all(source)).toString('utf8');
}
