import type { Receipt } from '@call-attribution/node-stream/receipts';
import { describe, expect, test } from 'vitest';
import { checkJob, type Job } from '../src/index.ts';
import { isDue, type Month, monthIn, monthPath, monthsOf } from '../src/turn/months.ts';

const base = { name: 'j', baseUrl: 'https://api.example.com', accounts: [{ id: '101' }], into: 'folder:out' };
const jobOf = (more: Partial<Job>) => checkJob({ ...base, ...more });
const now = Date.UTC(2026, 10, 22, 12);
const day = 86_400_000;

describe('the months of a job', () => {
  test.each<[Partial<Job>, string, string[], (string | null)[]]>([
    [{}, '2026-09', ['2026-09', '2026-10', '2026-11'], ['2026-09-01 00:00:00', '2026-12-01 00:00:00']],
    [
      { from: '2025-12-15', until: '2026-01-10' },
      'unused',
      ['2025-12', '2026-01'],
      ['2025-12-15 00:00:00', '2026-01-11 00:00:00'],
    ],
    [{ until: '2026-09-30' }, '2026-09', ['2026-09'], ['2026-09-01 00:00:00', '2026-10-01 00:00:00']],
  ])('of %j are named and bounded', async (more, first, names, [begin, end]) => {
    const months = monthsOf(await jobOf(more), first, now);
    expect(months.map(({ name }) => name)).toEqual(names);
    expect([months[0]?.from, months.at(-1)?.to]).toEqual([begin, end]);
    // What one ends with the next begins with.
    expect(months.slice(1).map(({ from }) => from)).toEqual(months.slice(0, -1).map(({ to }) => to));
  });

  test('are files that tools find, and only their own', async () => {
    const job = await jobOf({});
    const path = monthPath('101', '2026-10', job);
    expect(path).toBe('account=101/month=2026-10.parquet');
    expect(monthIn(path, '101', job)).toBe('2026-10');
    for (const other of [
      `${path}x`,
      'account=102/month=2026-10.parquet',
      'account=101/month=2026-10.ndjson.gz',
      '../x',
    ])
      expect(monthIn(other, '101', job)).toBeNull();
  });

  const month: Month = {
    name: '2026-09',
    from: '2026-09-01 00:00:00',
    to: '2026-10-01 00:00:00',
    filter: 'f',
  };
  const receipt = (changes: { at?: number; proof?: 'whole' | 'short'; filter?: string }): Receipt => {
    const { at = Date.UTC(2026, 11, 1), proof = 'whole', filter = 'f' } = changes;
    const time = new Date(at).toISOString();
    return {
      ...{ receipt: 1, file: 'x', writtenAt: time, source: null, accounts: [], version: 'v3', filter },
      ...{ from: null, to: null, bytes: null },
      verdict: { proof, asked: { from: null, to: null }, proved: 1, gaps: [], notes: [] },
      rows: { format: 'parquet', fields: null, delimiter: null, count: 1, digest: '0' },
    };
  };
  test.each<[string, Receipt | undefined, boolean]>([
    ['has none', undefined, true],
    ['was counted long after its end', receipt({}), false],
    ['was counted while it could still change', receipt({ at: Date.UTC(2026, 9, 5) }), true],
    ['is not whole', receipt({ proof: 'short' }), true],
    ['was about other calls', receipt({ filter: 'g' }), true],
    ['was written in this round', receipt({ at: now + 31 * day, proof: 'short' }), false],
  ])('a month whose receipt %s: due %s', (_, found, due) => {
    expect(isDue(month, found, { round: now + 30 * day, settle: 30 * day })).toBe(due);
  });
});
