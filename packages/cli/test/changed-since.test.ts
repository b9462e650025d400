import { type Call, systemClock } from '@call-attribution/core';
import { openStore } from '@call-attribution/store';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { openStage } from './stage.ts';

const stage = openStage();

describe.each(testStores())('changes of a copy in $kind', ({ newUrl }) => {
  test('list, count and export have the calls that changed since, and say how to go on', async () => {
    const url = await newUrl();
    const cwd = stage.folder();
    const ask = (...args: string[]) => stage.quick([...args, '--store', url], { cwd });
    expect((await ask('sync')).code).toBe(0);
    const all = Number((await ask('count', '--include-extensions')).stdout);
    const since = (time: string) => ['--include-extensions', '--changed-since', time];
    const first = await ask('count', ...since('1d'));
    expect(Number(first.stdout)).toBe(all);
    const last = /--changed-since "([\d-]+ [\d:.]+)" goes on from there/.exec(first.stderr)?.[1];
    expect(await ask('count', ...since(String(last)))).toMatchObject({ code: 0, stdout: '0\n' });

    await using store = await openStore(url);
    const [{ id = '' } = {}] = await store.accounts();
    const some: Call[] = [];
    for await (const call of store.calls(id, {}, { limit: 2 })) some.push(call);
    const [one, two] = some as [Call, Call];
    await store.upsert(id, [one, { ...two, city: 'Peru' }]);
    const sidsOf = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).sid);
    const listed = await ask('list', '--all', '--format', 'ndjson', ...since(String(last)));
    expect(sidsOf(listed.stdout)).toEqual([two.sid]);
    const latest = await ask('list', '--format', 'ndjson', ...since(String(last)));
    expect(sidsOf(latest.stdout)).toEqual([two.sid]);
    const exported = await ask('export', '-o', '-', '--format', 'ndjson', ...since(String(last)));
    expect(sidsOf(exported.stdout)).toEqual([two.sid]);
    for (const [where, total] of [
      ["city = 'Peru'", 1],
      ["city = 'Galena'", 0],
    ] as const) {
      const counted = await ask('count', '--where', where, ...since(String(last)));
      expect([where, Number(counted.stdout)]).toEqual([where, total]);
    }
    const next = new Date(systemClock.now() + 86_400_000).toISOString().slice(0, 10);
    expect(await ask('count', ...since(next))).toMatchObject({ stdout: '0\n' });
  });
});

test.each([
  [
    ['count', '--changed-since', '1d'],
    /^calls: --changed-since needs a copy: the API does not say/,
  ],
  [['list', '--follow', '--changed-since', '1d'], /--changed-since needs a copy/],
  [
    ['count', '--changed-since', 'soon', '--store', 'sqlite:calls.db'],
    /--changed-since is "soon", which is not a time that exists/,
  ],
  [
    ['export', '-o', 'x', '--partition', 'month', '--changed-since', '1d'],
    /--partition is about all calls of a filter/,
  ],
  [
    ['export', '-o', 'x.csv', '--receipt', '--changed-since', '1d'],
    /--receipt is about all calls of a filter/,
  ],
])('%s is refused with a sentence', async (args, words) => {
  const cwd = stage.folder();
  expect((await stage.quick(['sync', '--store', 'sqlite:calls.db'], { cwd })).code).toBe(0);
  const { code, stderr } = await stage.quick(args, { cwd });
  expect(code).toBe(2);
  expect(stderr).toMatch(words);
});
