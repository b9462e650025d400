import { hostname } from 'node:os';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { openStore, type StoreJournal } from '../src/index.ts';

const linesOf = async (journal: StoreJournal): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of journal.read()) lines.push(line);
  return lines;
};

describe.each(testStores())('a $kind store', ({ newUrl }) => {
  test('it keeps journals in order, each apart from the others', async () => {
    const url = await newUrl();
    const store = await openStore(url);
    const journal = store.journal('uploads');
    expect(await linesOf(journal)).toEqual([]);
    const written = Array.from({ length: 12 }, (_, i) => `line ${i}, "quoted" and ü`);
    for (const line of written) await journal.append(line);
    const other = store.journal('other');
    await linesOf(other);
    await other.append('x');
    await store.close();
    const again = await openStore(url);
    expect(await linesOf(again.journal('uploads'))).toEqual(written);
    await again.close();
  });

  test('it has one writer, until that one closes it', async () => {
    const url = await newUrl();
    const one = await openStore(url);
    const two = await openStore(url);
    const a = one.journal('uploads');
    const b = two.journal('uploads');
    await expect(a.append('unread')).rejects.toMatchObject({ code: 'claim_lost' });
    expect(await linesOf(a)).toEqual([]);
    const inUse = {
      code: 'claim_lost',
      message: `Process ${process.pid} on ${hostname()} is writing to the ledger "uploads". Run it again when that process has ended.`,
    };
    await expect(linesOf(b)).rejects.toMatchObject(inUse);
    await expect(b.append('second')).rejects.toMatchObject(inUse);
    expect(await linesOf(two.journal('other'))).toEqual([]);
    await a.append('first');
    await a.close();
    expect(await linesOf(b)).toEqual(['first']);
    await b.append('second');
    await expect(a.append('third')).rejects.toMatchObject(inUse);
    await two.close();
    expect(await linesOf(a)).toEqual(['first', 'second']);
    await one.close();
  });
});
