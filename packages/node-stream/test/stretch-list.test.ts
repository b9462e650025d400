import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CopyVerdict, copyVerdict, describeCopy } from '../src/copies/index.ts';
import type { Stretch, Stretches } from '../src/index.ts';
import { countStretches } from '../src/sync/counting.ts';
import { begin, bounded, due, put, rest, take, want } from '../src/sync/stretches.ts';

const day = (n: number): string => `2026-01-${String(n).padStart(2, '0')} 00:00:00`;
const range = (from: number | null, to: number | null) => ({
  from: from === null ? null : day(from),
  to: to === null ? null : day(to),
});
const whole = (from: number | null, to: number | null, calls = 10, more: Partial<Stretch> = {}): Stretch => ({
  ...range(from, to),
  is: 'whole',
  calls,
  at: 1,
  ...more,
});
const unread = (from: number | null, to: number | null): Stretch => ({
  ...range(from, to),
  is: 'unread',
  calls: null,
  at: null,
});
/** `whole 1-3, unread 3-` and so on. */
const shown = (list: Stretches): string =>
  list
    .map(({ from, to, is, calls }) => {
      const days = [from, to].map((time) => (time === null ? '' : String(Number(time.slice(8, 10)))));
      return `${is} ${days.join('-')}${calls === null ? '' : ` ${calls}`}`;
    })
    .join(', ');

describe('a list of stretches', () => {
  test.each<[string, Stretches, [number | null, number | null], string]>([
    ['the first run', [], [null, null], 'unread -'],
    ['a later begin adds nothing', [whole(null, null)], [5, null], 'whole - 10'],
    ['an earlier begin adds what lies before', [whole(5, null)], [3, null], 'unread 3-5, whole 5- 10'],
    ['a gap is filled', [whole(1, 3), whole(5, 7)], [1, 7], 'whole 1-3 10, unread 3-5, whole 5-7 10'],
    ['what is unread is joined', [unread(1, 3)], [1, 9], 'unread 1-9'],
    ['a range apart stays apart', [whole(1, 3)], [7, 9], 'whole 1-3 10, unread 7-9'],
  ])('what a run asks for: %s', (_, list, [from, to], expected) => {
    expect(shown(want(list, range(from, to)))).toBe(expected);
  });

  test.each<[string, Stretches, [number | null, number | null], number | null, string]>([
    ['what is unread, inside the range', [unread(1, 9)], [3, 5], null, 'unread 3-5'],
    ['nothing of what is whole', [whole(1, 9)], [1, 9], null, ''],
    ['what may still change', [whole(1, 5), whole(5, 9, 3, { again: true })], [1, 9], 8, 'whole 5-9 3'],
    [
      'more when the lookback is longer',
      [whole(1, 5), whole(5, 9, 3, { again: true })],
      [1, 9],
      4,
      'whole 1-5 10, whole 5-9 3',
    ],
    [
      'what is not whole, also outside the range',
      [whole(1, 3, 9, { is: 'short' }), whole(3, 9)],
      [5, 9],
      null,
      'short 1-3 9',
    ],
    ['nothing of what waits for its count', [whole(1, 9, 9, { is: 'read' })], [1, 9], null, ''],
  ])('a run reads %s', (_, list, [from, to], again, expected) => {
    expect(shown(due(list, { asked: range(from, to), againFrom: again === null ? null : day(again) }))).toBe(
      expected,
    );
  });

  test('a slice that was read takes the place of what was known, cut where it can be counted', () => {
    const times = [2, 2, 4, 5, 6].map(day);
    const slice = { ...range(1, 7), calls: 5, times, reasons: [], at: 2 };
    expect(shown(take([unread(1, null)], slice, [day(5), day(3), day(9)]))).toBe(
      'read 1-3 2, read 3-5 1, read 5-7 2, unread 7-',
    );
    expect(shown(take([unread(1, null)], { ...slice, times: null }, [day(5)]))).toBe('read 1-7 5, unread 7-');
    expect(shown(take([], { ...slice, reasons: [{ code: 'no_total', count: null }] }, []))).toBe(
      'unproven 1-7 5',
    );
  });

  test('a slice that was read in part is noted where it was unread, and nowhere else', () => {
    const begun = { taken: 3, idChecksum: 7 };
    expect(begin([unread(1, 9)], range(3, 5), begun)).toMatchObject([{}, { ...range(3, 5), begun }, {}]);
    const again = [whole(1, 9, 10, { again: true })];
    expect(begin(again, range(3, 5), begun)).toBe(again);
  });

  const list = fc.uniqueArray(fc.integer({ min: 1, max: 28 }), { maxLength: 12 }).chain((days) =>
    fc
      .array(fc.constantFrom<Stretch['is']>('unread', 'read', 'whole', 'short', 'unproven'), {
        minLength: 14,
        maxLength: 14,
      })
      .map((kinds) => {
        const ends = [null, ...days.sort((a, b) => a - b), null];
        return ends.slice(1).map((to, i) => whole(ends[i] ?? null, to, 1, { is: kinds[i] ?? 'whole' }));
      }),
  );
  test('it never gets gaps or overlaps, and never more than some stretches', () =>
    fc.assert(
      fc.property(
        list,
        fc.integer({ min: 1, max: 14 }),
        fc.integer({ min: 15, max: 28 }),
        (given, from, to) => {
          const changed = put(given, range(from, to), [unread(from, to)]);
          const few = bounded(changed, day(28), () => false);
          for (const each of [changed, few])
            for (const [i, { to: end }] of each.slice(0, -1).entries()) expect(each[i + 1]?.from).toBe(end);
          expect(
            rest([range(null, null)], { from: few[0]?.from ?? null, to: few.at(-1)?.to ?? null }),
          ).toEqual([]);
        },
      ),
    ));

  test('hundreds of slices become some fifty stretches with the same calls', () => {
    const time = (i: number) =>
      new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
    const many = Array.from({ length: 500 }, (_, i) =>
      whole(null, null, i, { from: time(i), to: time(i + 1) }),
    );
    const few = bounded(many, time(500), () => false);
    expect(few.length).toBeLessThan(60);
    expect(few.reduce((sum, { calls }) => sum + (calls ?? 0), 0)).toBe((499 * 500) / 2);
  });
});

describe('the count of a copy', () => {
  const parts = Array.from({ length: 8 }, (_, i) => whole(i + 1, i + 2, 10));
  const count = async (server: number[], meanwhile = (_asked: number): void => {}) => {
    const asked: string[] = [];
    const found = await countStretches(parts, { until: day(20), rows: 100, at: 5 }, async ({ from, to }) => {
      meanwhile(asked.length);
      asked.push(`${from?.slice(8, 10)}-${to?.slice(8, 10)}`);
      return server.reduce(
        (sum, calls, i) => (day(i + 1) >= (from ?? '') && day(i + 1) < (to ?? '~') ? sum + calls : sum),
        0,
      );
    });
    return { asked, found };
  };

  test('one request proves all of it', async () => {
    const { asked, found } = await count(parts.map(() => 10));
    expect(asked).toEqual(['01-09']);
    expect(found.every(({ is, at }) => is === 'whole' && at === 5)).toBe(true);
  });

  test('halves find the stretch that differs', async () => {
    const { asked, found } = await count([10, 10, 10, 10, 10, 13, 10, 10]);
    // What is the rest of another count is asked for itself before it proves anything: the last two days.
    expect(asked).toEqual(['01-09', '01-05', '05-07', '05-06', '07-09']);
    expect(found.filter(({ is }) => is !== 'whole')).toEqual([
      {
        ...range(6, 7),
        is: 'short',
        calls: 10,
        at: 1,
        missing: 3,
        reasons: [{ code: 'count_rose', count: 3 }],
      },
    ]);
    const fell = await count([10, 10, 9, 10, 10, 10, 10, 10]);
    expect(shown(fell.found)).toContain('unproven 3-4 10');
  });

  test('calls that go between two counts, and others that come, do not make a part whole that lacks calls', async () => {
    const server = [10, 10, 10, 10, 10, 13, 10, 10];
    const { found } = await count(server, (asked) => {
      // Two of the three calls that are missing in the second half go, and three come in the first half.
      if (asked === 1) server.splice(0, 8, 13, 10, 10, 10, 10, 11, 10, 10);
    });
    expect(found.find(({ from }) => from === day(6))).toMatchObject({ is: 'short', missing: 1 });
  });
});

describe('what a copy lacks, in words', () => {
  const verdict = (list: Stretches): CopyVerdict =>
    copyVerdict({
      version: 1,
      parts: [{ version: 'v3', filter: '', latest: null, stretches: list }],
      seen: [],
      pending: [],
    }) as CopyVerdict;
  const rose = { reasons: [{ code: 'count_rose', count: 100 }], missing: 100 } as const;

  test.each<[string, Stretches, string | null, string]>([
    ['whole', [whole(null, null)], null, 'whole'],
    [
      'calls are missing',
      [whole(null, 3, 2450), whole(3, 4, 2450, { is: 'short', ...rose })],
      'short: 100 calls of 5,000 are missing between 2026-01-03 00:00:00 and 2026-01-04 00:00:00',
      'short',
    ],
    [
      'a part is unread',
      [whole(null, 3), unread(3, null)],
      'incomplete: the calls from 2026-01-03 00:00:00 on have not been read yet',
      'unproven',
    ],
    [
      'a part was not counted',
      [whole(null, 3, 5, { is: 'read' })],
      'unproven: the calls before 2026-01-03 00:00:00 have not been counted yet',
      'unproven',
    ],
  ])('%s', (_, list, expected, proof) => {
    expect(describeCopy(verdict(list))).toBe(expected);
    expect(verdict(list).proof).toBe(proof);
  });

  test('a verdict is about a period', () => {
    const state = {
      version: 1,
      parts: [{ version: 'v3', filter: '', latest: null, stretches: [whole(1, 3), unread(3, 5)] }],
      seen: [],
      pending: [],
    };
    expect(copyVerdict(state, range(1, 3))?.proof).toBe('whole');
    expect(copyVerdict(state, range(2, 4))?.proof).toBe('unproven');
    expect(copyVerdict(null)).toBeNull();
  });
});
