import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { describe, expect, test } from 'vitest';
import { openWarehouse } from '../src/index.ts';
import { call, syncState, temporaryFolder, testWarehouse } from './support.ts';

const ended = syncState(true);
const nest = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

describe('long records', () => {
  test.each([
    ['just over what DuckDB takes by default', 'x'.repeat(2_000_001)],
    ['some megabytes', 'x'.repeat(5_000_000)],
    ['marks of the staged lines', '\u001e'.repeat(2_100_000)],
    ['characters that JSON escapes', '"\u0001\ud800'.repeat(500_000)],
  ])('a call with a long value is stored and given back: %s', async (_, text) => {
    const { warehouse } = await testWarehouse();
    const calls = [call('a'), call('b', { ppc_keyword: text, more: text }), call('c')];
    expect(await warehouse.load('main', calls)).toMatchObject({ stored: 3, added: 3 });
    expect(await warehouse.get('b')).toEqual(calls[1]);
    expect((await warehouse.count()).calls).toBe(3);
  });
});

describe('calls that cannot be stored', () => {
  test('an error names all of them by their places, and nothing of the batch is staged', async () => {
    const { warehouse } = await testWarehouse();
    const sink = warehouse.sink('main');
    await sink.load();
    const batch = [
      call('a'),
      call('', {}),
      call('b', { more: nest(100_000) }),
      call('c'),
      call('odd\ud800'),
      call('d', { ppc_keyword: nest(1_001) }),
    ];
    await expect(sink.commit({ calls: batch, ...ended })).rejects.toMatchObject({
      code: 'invalid_record',
      refused: [1, 2, 4, 5],
    });
    const calls = batch.filter((_, at) => [0, 3].includes(at));
    expect(await sink.commit({ calls, ...ended })).toEqual({ added: 2, changed: 0 });
    expect((await warehouse.count()).calls).toBe(2);
  });

  test('what is nested a thousand levels is stored and given back', async () => {
    const { warehouse } = await testWarehouse();
    await warehouse.load('main', [call('a', { more: nest(1_000) })]);
    expect(await warehouse.get('a')).toEqual(call('a', { more: nest(1_000) }));
  });

  test.each([
    ['lines that are none', 'not a line\n', '{"bytes":11,"records":1,"longest":10}\n'],
    ['fewer bytes than the journal says', '', '{"bytes":5000,"records":3,"longest":900}\n'],
    ['a journal that is none', 'x\n', 'not json\n'],
  ])('staged leftovers keep no question from its answer: %s', async (_, lines, journal) => {
    const path = join(temporaryFolder(), 'calls.duckdb');
    const first = await openWarehouse(path);
    await first.load('main', [call('a'), call('b')]);
    await first.close();
    mkdirSync(`${path}.staged`, { recursive: true });
    writeFileSync(join(`${path}.staged`, 'main.lines'), lines);
    writeFileSync(join(`${path}.staged`, 'main.journal'), journal);
    const again = await openWarehouse(path);
    expect((await again.count()).calls).toBe(2);
    expect((await again.get('a'))?.sid).toBe('a');
    await again.close();
  });
});

test('a commit says what was new and what has changed among the rows', async () => {
  const { warehouse } = await testWarehouse({ batch: 3 });
  const sink = warehouse.sink('main');
  await sink.load();
  const running = syncState(false);
  const commit = async (calls: Call[], now = ended) => sink.commit({ calls, ...now });
  const sum = { added: 0, changed: 0 };
  for (const [calls, now] of [
    [[call('a'), call('b')], running],
    [[call('c'), call('d')], running],
    [[call('a'), call('b', { city: 'Later' }), call('e')], ended],
  ] as const) {
    const { added, changed } = (await commit([...calls], now)) ?? sum;
    sum.added += added;
    sum.changed += changed;
  }
  expect(sum).toEqual({ added: 5, changed: 1 });
  expect(await commit([call('a'), call('b'), call('f')])).toEqual({ added: 1, changed: 1 });
  expect(await warehouse.load('main', [call('a'), call('f', { more: 1 }), call('g')])).toEqual({
    stored: 3,
    added: 1,
    changed: 1,
    leftOut: 0,
  });
});
