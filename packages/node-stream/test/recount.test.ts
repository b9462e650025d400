import { expect, test } from 'vitest';
import { type CopyStretch, recount } from '../src/proof.ts';

// Four stretches of ten calls each, one behind the other; what the server counts in each range is
// what a case says, or the sum of them.
const stretch = (from: number, more: Partial<CopyStretch> = {}): CopyStretch => ({
  from,
  to: from + 10,
  is: 'proved',
  counted: 10,
  shared: 0,
  calls: 10,
  at: null,
  ...more,
});
const four = [0, 10, 20, 30].map((from) => stretch(from));
/** As a copy keeps them: with the calls at their ends. */
const kept = four.map((one) => ({ ...one, ends: [0, 0] as const }));
const seen = { at: 7 };

/** Counts with what the server has in each of the four, or what it says of one range. */
async function counted(
  list: readonly CopyStretch[],
  has: readonly number[],
  says: Readonly<Record<string, readonly (number | null)[]>> = {},
  isDue: (stretch: CopyStretch) => boolean = () => true,
) {
  const asked: string[] = [];
  const left = new Map(Object.entries(says).map(([range, answers]) => [range, [...answers]]));
  const found = await recount(list, { isDue, rows: 100, seen }, async ({ from, to }) => {
    const range = `${from}-${to}`;
    asked.push(range);
    const said = left.get(range)?.shift();
    if (said !== undefined) return said;
    return has.slice((from ?? 0) / 10, (to ?? 0) / 10).reduce((sum, one) => sum + one, 0);
  });
  return { asked, is: found.map(({ why, is, at }) => why ?? (at === 7 ? is : 'not counted')) };
}

const all = ['proved', 'proved', 'proved', 'proved'];

test.each<[string, Parameters<typeof counted>, string[], string[]]>([
  ['as many as before: one request', [four, [10, 10, 10, 10]], ['0-40'], all],
  [
    'one more in the third: halves, and the one that differs twice',
    [four, [10, 10, 11, 10]],
    ['0-40', '0-20', '20-40', '20-30', '20-30', '30-40'],
    ['proved', 'proved', 'rose', 'proved'],
  ],
  [
    'one fewer in the first',
    [four, [9, 10, 10, 10]],
    ['0-40', '0-20', '0-10', '0-10', '10-20', '20-40'],
    ['fell', 'proved', 'proved', 'proved'],
  ],
  [
    'a server that was behind once: the second count is right',
    [four.slice(0, 1), [10], { '0-10': [9, 10] }],
    ['0-10', '0-10'],
    ['proved'],
  ],
  [
    'no count: nothing is known of any of them',
    [four, [], { '0-40': [null] }],
    ['0-40'],
    ['uncounted', 'uncounted', 'uncounted', 'uncounted'],
  ],
  [
    'no count of a half: of that half',
    [four, [10, 10, 10, 11], { '0-20': [null] }],
    ['0-40', '0-20', '20-40', '20-30', '30-40', '30-40'],
    ['uncounted', 'uncounted', 'proved', 'rose'],
  ],
  [
    'more together than in both halves, in a copy: calls moved while they were counted, and each is counted alone',
    [kept.slice(0, 2), [10, 10], { '0-20': [21] }],
    ['0-20', '0-10', '10-20', '0-10', '10-20'],
    ['proved', 'rose'],
  ],
  [
    'the same where one of them differs alone',
    [kept.slice(0, 2), [10, 10], { '0-20': [21], '0-10': [10, 11, 11] }],
    ['0-20', '0-10', '10-20', '0-10', '0-10', '10-20'],
    ['rose', 'proved'],
  ],
  [
    'more together than in both halves, in a read, which does not know what they share: nothing is made of it',
    [four.slice(0, 2), [10, 10], { '0-20': [21] }],
    ['0-20', '0-10', '10-20'],
    ['proved', 'proved'],
  ],
  [
    'more together than in both halves, one of which has more: the one behind the border has more, too',
    [kept.slice(0, 2), [11, 10], { '0-20': [22] }],
    ['0-20', '0-10', '0-10', '10-20'],
    ['rose', 'rose'],
  ],
  [
    'the same where that is the one that has more: it stays as it was counted',
    [kept.slice(0, 2), [10, 11], { '0-20': [22] }],
    ['0-20', '0-10', '10-20', '10-20'],
    ['proved', 'rose'],
  ],
  [
    'a count that stands for more than it tells: the halves say what they hold',
    [kept.slice(0, 2), [10, 10], { '0-20': [Number.POSITIVE_INFINITY] }],
    ['0-20', '0-10', '10-20'],
    ['proved', 'proved'],
  ],
  [
    'a gap between two: they are counted apart',
    [
      [stretch(0), stretch(20)],
      [10, 0, 10],
    ],
    ['0-10', '20-30'],
    ['proved', 'proved'],
  ],
  [
    'what is not proved, or was cut, is not counted',
    [
      [stretch(0, { is: 'short', why: 'fewer' }), stretch(10, { counted: null }), stretch(20)],
      [9, 9, 10],
    ],
    ['20-30'],
    ['fewer', 'not counted', 'proved'],
  ],
])('%s', async (_, of, asked, is) => {
  expect(await counted(...of)).toEqual({ asked, is });
});

test('what is not due is not counted, and those beside it are counted apart', async () => {
  const isDue = ({ from }: CopyStretch): boolean => from !== 10;
  const { asked, is } = await counted(four, [10, 9, 10, 10], {}, isDue);
  expect(asked).toEqual(['0-10', '20-40']);
  expect(is).toEqual(['proved', 'not counted', 'proved', 'proved']);
});

test('calls that two share are counted once', async () => {
  const two = [stretch(0), stretch(10, { shared: 1, calls: 9 })];
  expect(await counted(two, [], { '0-20': [19] })).toEqual({ asked: ['0-20'], is: all.slice(2) });
});

test('some thousand fresh calls are counted with one request, and no run takes more than 16', async () => {
  const many = Array.from({ length: 1000 }, (_, i) =>
    stretch(10 * i, { calls: 100, counted: 100 }),
  );
  const { asked, is } = await counted(
    many,
    Array.from({ length: 1000 }, () => 100),
  );
  expect(asked).toHaveLength(16);
  expect(new Set(is)).toEqual(new Set(['proved']));
});
