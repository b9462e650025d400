import type { Readable } from 'node:stream';
import { type Call, CallsError, type Client } from '@call-attribution/core';
import { expectTypeOf, test } from 'vitest';
import { toCsv } from '../src/encoders/index.ts';
import {
  type Checkpoint,
  createCallByteStream,
  createCallStream,
  type ReadableOf,
  type Verdict,
} from '../src/index.ts';
import { count, mapCalls, tumbling } from '../src/operators/index.ts';

declare const client: Client;

test('a stream is typed by its items', () => {
  const stream = createCallStream(client);
  expectTypeOf(stream[Symbol.asyncIterator]().next()).resolves.toExtend<{ value: Call }>();
  expectTypeOf(stream.verdict).resolves.toEqualTypeOf<Verdict>();
});

test('a web stream is typed by what it carries', () => {
  expectTypeOf(createCallStream(client).toWeb()).toExtend<ReadableStream<Call>>();
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

test('the methods of Readable keep the type of the items', async () => {
  const stream = createCallStream(client);
  expectTypeOf(stream.filter((call) => call.sid !== '')).toEqualTypeOf<ReadableOf<Call>>();
  expectTypeOf(stream.take(5).drop(1)).toEqualTypeOf<ReadableOf<Call>>();
  expectTypeOf(stream.map(async (call) => call.sid)).toEqualTypeOf<ReadableOf<string>>();
  expectTypeOf(stream.flatMap((call) => [call.sid, 1])).toEqualTypeOf<ReadableOf<string | number>>();
  expectTypeOf(stream.toArray()).resolves.toEqualTypeOf<Call[]>();
  expectTypeOf(stream.find((call) => call.sid === 'a')).resolves.toEqualTypeOf<Call | undefined>();
  expectTypeOf(stream.reduce((sum, call) => sum + call.sid.length, 0)).resolves.toEqualTypeOf<number>();
  stream.on('data', (call) => expectTypeOf(call).toEqualTypeOf<Call>());
  stream.on('slice', ({ records }) => expectTypeOf(records).toEqualTypeOf<number>());
  stream.on('verdict', (verdict) => expectTypeOf(verdict).toEqualTypeOf<Verdict>());
  // @ts-expect-error no such field
  stream.map((call) => call.nonsense);
});

test('a typed stream is accepted wherever a Readable is', () => {
  expectTypeOf(createCallStream(client)).toExtend<Readable>();
  expectTypeOf(createCallByteStream(client)).toExtend<NodeJS.ReadableStream>();
});

test('CallsError.is knows the errors of streams', () => {
  const error: unknown = null;
  if (CallsError.is(error, 'incomplete')) expectTypeOf(error.expected).toEqualTypeOf<number | null>();
  if (CallsError.is(error, 'file_locked')) expectTypeOf(error.host).toEqualTypeOf<string | null>();
  if (CallsError.is(error, 'rate_limited') && 'slice' in error)
    expectTypeOf(error.checkpoint).toEqualTypeOf<Checkpoint | null>();
});

test('an option may be undefined, as a variable that may not be set', () => {
  const filter = undefined as string | undefined;
  const signal = undefined as AbortSignal | undefined;
  createCallStream(client, { filter, signal, timeout: undefined });
  toCsv({ delimiter: undefined, columns: undefined });
});
