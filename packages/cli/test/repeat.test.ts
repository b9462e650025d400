import { CallsError } from '@call-attribution/core/errors';
import { expect, test } from 'vitest';
import { Interrupted } from '../src/errors.ts';
import { untilOpen } from '../src/syncing/repeat.ts';

const busy = new CallsError('in_use', 'Process 7 has it open.', { isRetryable: true });
const wrong = new CallsError('store_url', 'It is not a SQLite database.');

/** Opens something that fails with each of these errors in turn. */
async function open(
  errors: readonly Error[],
  everyMs: number | null,
  signal = new AbortController().signal,
) {
  const left = [...errors];
  const said: string[] = [];

  const first = async (): Promise<string> => {
    const error = left.shift();
    if (error) throw error;
    return 'open';
  };

  const opened = await untilOpen(first, everyMs, signal, ({ message }) => said.push(message));
  return { opened, said };
}

test('what repeats waits for what another process has open', async () => {
  const { opened, said } = await open([busy, busy], 1);
  expect([opened, said.length]).toEqual(['open', 2]);
  expect(said[0]).toContain('Process 7 has it open.');
});

test.each([
  ['what runs once does not wait', busy, null],
  ['what is wrong stays wrong', wrong, 1],
])('%s', async (_, error, everyMs) => {
  await expect(open([error], everyMs)).rejects.toBe(error);
});

test('Ctrl-C ends the wait', async () => {
  await expect(open([busy], 60_000, AbortSignal.timeout(20))).rejects.toBeInstanceOf(Interrupted);
  await expect(open([busy], 60_000, AbortSignal.abort())).rejects.toBeInstanceOf(Interrupted);
});
