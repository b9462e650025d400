import type { Readable } from 'node:stream';
import { type Call, CallsError, type Client } from '@call-attribution/core';
import { expectTypeOf, test } from 'vitest';
import { toCsv } from '../src/encoders/index.ts';
import {
  type Checkpoint,
  createCallByteStream,
  createCallStream,
  type Verdict,
} from '../src/index.ts';
import { count, mapCalls, tumbling } from '../src/operators/index.ts';

declare const client: Client;

test('a stream is typed by its items', () => {
  const stream = createCallStream(client);
  expectTypeOf(stream[Symbol.asyncIterator]().next()).resolves.toExtend<{ value: Call }>();
  expectTypeOf(stream.verdict()).toEqualTypeOf<Verdict>();
});

test('a chain has the type of what the operator emits', async () => {
  const windows = tumbling({ size: '1d', by: ['channel'], measures: { calls: count() } });
  for await (const row of createCallStream(client).through(windows)) {
    expectTypeOf(row.from).toEqualTypeOf<string>();
    expectTypeOf(row.calls).toEqualTypeOf<number>();
    // @ts-expect-error no such column
    row.nonsense;
  }

  const rows = createCallStream(client).through(windows);
  expectTypeOf((await rows.toArray())[0]?.channel).toEqualTypeOf<
    string | number | boolean | null | undefined
  >();

  // The next operator takes what the one before it emits.
  const lengths = createCallStream(client)
    .through(mapCalls((call) => call.sid))
    .through(mapCalls((sid) => sid.length));
  expectTypeOf(await lengths.toArray()).toEqualTypeOf<number[]>();
  const sids = createCallStream(client).through(mapCalls((call) => call.sid));

  // @ts-expect-error an item is a string here
  sids.through(mapCalls((item) => item.date_added));
});

test('pages are typed by their items', async () => {
  for await (const { items, checkpoint } of createCallStream(client).pages()) {
    expectTypeOf(items).toEqualTypeOf<readonly Call[]>();
    expectTypeOf(checkpoint).toEqualTypeOf<Checkpoint>();
  }
  for await (const { items } of createCallByteStream(client).pages())
    expectTypeOf(items).toEqualTypeOf<readonly Buffer[]>();
});

test('a typed stream is accepted wherever a Readable is', () => {
  expectTypeOf(createCallStream(client)).toExtend<Readable>();
  expectTypeOf(createCallByteStream(client)).toExtend<NodeJS.ReadableStream>();
});

test('CallsError.is knows the errors of streams', () => {
  const error: unknown = null;
  if (CallsError.is(error, 'range_ignored'))
    expectTypeOf(error.code).toEqualTypeOf<'range_ignored'>();
  if (CallsError.is(error, 'file_locked')) expectTypeOf(error.host).toEqualTypeOf<string | null>();
});

test('an option may be undefined, as a variable that may not be set', () => {
  const filter = undefined as string | undefined;
  const signal = undefined as AbortSignal | undefined;
  createCallStream(client, { filter, signal, timeout: undefined });
  toCsv({ safe: undefined, columns: undefined });
});
