import type { Call, Client } from '@call-attribution/core';
import { expectTypeOf, test } from 'vitest';
import { createCallStream, type Mark, type StreamPage, type Verdict } from '../src/index.ts';

declare const client: Client;

test('a stream is typed by its items', () => {
  const stream = createCallStream(client);
  expectTypeOf(stream[Symbol.asyncIterator]().next()).resolves.toExtend<{ value: Call }>();
  expectTypeOf(stream.verdict).resolves.toEqualTypeOf<Verdict>();
  const marked = createCallStream(client, { marks: true })[Symbol.asyncIterator]();
  expectTypeOf(marked.next()).resolves.toExtend<{ value: Call | Mark }>();
});

test('a web stream is typed by what it carries', () => {
  expectTypeOf(createCallStream(client).toWeb()).toExtend<ReadableStream<Call>>();
  expectTypeOf(createCallStream(client).toWeb({ by: 'page' })).toExtend<ReadableStream<StreamPage>>();
});
