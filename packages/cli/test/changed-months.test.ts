import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { openStore, type Store } from '@call-attribution/store';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { openStage } from './stage.ts';

const stage = openStage();

describe.each(testStores())('months of a copy in $kind', ({ newUrl }) => {
  test('are written again where a call changed, came, moved or went, and nowhere else', async () => {
    const url = await newUrl();
    const cwd = stage.folder();
    const run = async (...args: string[]) => {
      const result = await stage.quick([...args, '--store', url], { cwd });
      expect([args.join(' '), result.code, result.stderr]).toEqual([
        args.join(' '),
        0,
        result.stderr,
      ]);
      return result;
    };
    const folder = join(cwd, 'x/account=101');
    const receipts = () =>
      Object.fromEntries(
        readdirSync(folder)
          .filter((name) => name.endsWith('.receipt.json'))
          .map((name) => [name.slice(6, 13), JSON.parse(readFileSync(join(folder, name), 'utf8'))]),
      );

    /** The months that a run writes again. */
    const written = async (...more: string[]) => {
      const before = receipts();
      await run('export', '-o', 'x', '--partition', 'month', '--include-extensions', ...more);
      return Object.entries(receipts()).flatMap(([month, { seal }]) =>
        before[month]?.seal === seal ? [] : [month],
      );
    };
    const changed = async (change: (store: Store, first: Call, last: Call) => Promise<unknown>) => {
      await using store = await openStore(url);
      const calls: Call[] = [];
      for await (const call of store.calls('101')) calls.push(call);
      await change(store, calls[0] as Call, calls.at(-1) as Call);
      return written();
    };

    await run('sync');
    await run('export', '-o', 'x', '--partition', 'month', '--include-extensions');
    const months = Object.keys(receipts()).sort();
    const [first = '', second = ''] = months;
    const last = months.at(-1) ?? '';
    expect(months.length).toBeGreaterThan(2);
    expect(receipts()[last].changes).toEqual({
      until: expect.stringMatching(/^\d{4}-.*Z$/),
      calls: receipts()[last].rows.count,
    });
    expect(await written()).toEqual([]);
    await run('sync');
    expect(await written()).toEqual([]);

    expect(
      await changed((store, call) => store.upsert('101', [{ ...call, city: 'Peru' } as Call])),
    ).toEqual([first]);
    expect(
      await changed((store, call) => store.upsert('101', [{ ...call, sid: 'new' } as Call])),
    ).toEqual([first]);
    expect(await changed((store) => store.remove('101', ['new']))).toEqual([first]);
    expect(
      await changed((store, call) =>
        store.upsert('101', [{ ...call, date_added: `${second}-15 10:00:00` } as Call]),
      ),
    ).toEqual([first, second]);
    let erased = '';
    const after = await changed((store, _, call) => {
      erased = call.date_added.slice(0, 7);
      return store.erase('101', [call.ani as string]);
    });
    expect(after).toContain(erased);
    expect(await changed((store) => store.purge('101', `${second}-01 00:00:00`))).toEqual([first]);
    expect(receipts()[first].rows.count).toBe(0);
    expect(await written()).toEqual([]);
    expect(await stage.quick(['verify', 'x'], { cwd })).toMatchObject({ code: 0 });
  });
});
