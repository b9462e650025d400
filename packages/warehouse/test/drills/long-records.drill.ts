import { openDrill } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { call, testWarehouse } from '../support.ts';

const tally = openDrill({
  name: 'long-records',
  kind: 'odd records',
  what: 'Records of up to 64 MiB, the most that the client reads, are stored among others, counted, and given back as they were',
});

const most = 64 * 1024 * 1024;

test.each([
  ['8 MiB', 'x'.repeat(8 * 1024 * 1024)],
  ['64 MiB', 'x'.repeat(most - 4_096)],
  ['64 MiB of escapes', '\u0001'.repeat(Math.floor(most / 6) - 4_096)],
])(
  'a record of %s is stored and given back',
  async (_, text) => {
    const { warehouse } = await testWarehouse();
    const calls = [call('a'), call('b', { ppc_keyword: text }), call('c')];
    expect(await warehouse.load('main', calls)).toMatchObject({ stored: 3 });
    expect((await warehouse.count()).calls).toBe(3);
    const found = await warehouse.get('b');
    tally.add({ runs: 1, lost: found === null ? 1 : 0 });
    // A difference of so many bytes is not to be printed.
    expect(JSON.stringify(found) === JSON.stringify(calls[1])).toBe(true);
    const read: string[] = [];
    for await (const { sid } of warehouse.calls()) read.push(sid);
    expect(read).toEqual(['a', 'b', 'c']);
  },
  600_000,
);
