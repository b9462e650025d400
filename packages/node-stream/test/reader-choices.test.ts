import { describe, expect, test } from 'vitest';
import { type Allowed, allowed, begun, continued, type Try } from '../src/reader/allowed.ts';
import { choose, endOf, mayAskAhead } from '../src/reader/choose.ts';
import { type Facts, factsBefore, learn } from '../src/reader/facts.ts';
import { type Answer, type Item, Misplaced } from '../src/reader/list.ts';

// Ten items are asked for; positions are whole numbers, and an item may lie 100 outside of a range.
const limits = { rows: 10, step: 1, stray: 100 };
const all = { from: null, to: null };
const thousand = { from: 0, to: 1000 };
const before = factsBefore({ ...limits, pace: null });
const even: Facts = { ...before, density: { items: 10, width: 100 } };

const ten = Array.from({ length: 10 }, (_, i) => i);
const rising = ten.map((i) => 10 * i + 5);
const falling = ten.map((i) => 1000 - 10 * i);
const mixed = ten.map((i) => (i * 370 + 50) % 1000);

const answer = (ats: readonly number[], total: number | null, names = ats): Answer<Item> => ({
  items: ats.map((at, i) => ({ id: `${names[i]}`, at })),
  total,
});
type Page = Answer<Item> | Misplaced;
type Range = { from: number | null; to: number | null };

/** A try of which these pages came. */
const tryOf = ([first, ...others]: readonly Page[], range: Range): Try<Item> =>
  others.reduce(
    (one, page) => continued(one, page, range, limits),
    begun(first as Page, range, limits),
  );
const after = (tries: readonly (readonly Page[])[], range: Range = thousand): Allowed<Item> =>
  allowed(
    range,
    tries.map((pages) => tryOf(pages, range)),
    limits,
  );
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('what may follow', () => {
  /** What is not null or false, and what is proved of what may be delivered. */
  const named = ({ deliver, ...others }: Allowed<Item>): string[] => [
    ...(deliver === null ? [] : [`deliver ${deliver.why ?? deliver.is} ${deliver.items.length}`]),
    ...Object.entries(others).flatMap(([name, value]) => (value ? [name] : [])),
  ];
  const second = { from: 5, to: 6 };
  const here = times(10, 5);
  const busy = (from: number, total: number) =>
    answer(
      here,
      total,
      ten.map((i) => from + i),
    );
  const six = answer(rising.slice(0, 6), 6);
  const lost = answer(rising.slice(0, 6), 7);
  const twins = answer([5, 5, 6], 3);
  const none = new Misplaced();
  const far = answer([5000], 1);

  test.each<[string, Page[][], string[], Range?]>([
    ['one answer that holds all', [[six]], ['deliver proved 6', 'split', 'again']],
    ['nothing, and no total', [[answer([], null)]], ['deliver proved 0', 'again']],
    ['a page in order of more', [[answer(rising, 30)]], ['split', 'keep', 'next']],
    ['a page in no order of more', [[answer(mixed, 30)]], ['split', 'next']],
    ['a full page that says that it is all', [[answer(rising, 10)]], ['split', 'next']],
    [
      'the same, with nothing behind it',
      [[answer(rising, 10), answer([], 10)]],
      ['deliver proved 10', 'split', 'again'],
    ],
    ['another page that has more', [[answer(rising, 10), answer([500], 10)]], ['split', 'again']],
    [
      'one item less than the total, with nothing behind',
      [[lost, answer([], 7)]],
      ['split', 'again'],
    ],
    ['the same five times', times(5, [lost, answer([], 7)]), ['deliver fewer 6', 'split']],
    ['an item twice', [[twins]], ['split', 'again']],
    ['the same item twice, and again', [[twins], [twins]], ['deliver doubled 2', 'split']],
    ['a page of another place', [[none]], ['again']],
    ['five of them', times(5, [none]), ['deliver fewer 0']],
    ['items that lie far outside', [[far]], ['again']],
    ['no total', [[answer(rising, null)]], ['pages']],
    ['no positions, and more than a page', [[answer(times(10, Number.NaN), 30, ten)]], ['pages']],
    ['a page of one position', [[busy(0, 20)]], ['next'], second],
    [
      'all pages of one position',
      [[busy(0, 20), busy(10, 20), answer([], 20)]],
      ['deliver proved 20', 'again'],
      second,
    ],
    ['pages whose totals differ', [[busy(0, 20), busy(10, 21), answer([], 20)]], ['again'], second],
    ['more than the total says', [[busy(0, 10), busy(10, 10), answer([], 10)]], ['again'], second],
    ['and again', times(2, [busy(0, 10), busy(10, 10), answer([], 10)]), ['pages'], second],
  ])('%s', (_, tries, expected, range) => {
    expect(named(after(tries, range)).sort()).toEqual(expected.sort());
  });

  test('three answers with items far outside: the range is ignored', () => {
    expect(() => after(times(3, [far]))).toThrow(
      expect.objectContaining({ code: 'range_ignored' }),
    );
  });

  test('what is kept of a page ends between two items that lie apart, and the rest has all others', () => {
    const { keep } = after([[answer([1, 2, 3, 20, 21, 22, 22, 23, 24, 25], 30)]]);
    expect(keep).toMatchObject({ end: 4, isUp: true, others: 27 });
    expect(keep?.items.map(({ at }) => at)).toEqual([1, 2, 3]);
  });
});

describe('what is chosen', () => {
  const wasteful: Facts = { ...even, answers: 100 };
  test.each<[string, Answer<Item>, Facts, object, Range?]>([
    ['in order, two pages: a page is kept', answer(rising, 15), before, { kind: 'keep' }],
    [
      'more, and nothing known: it is cut where most of a page ends',
      answer(rising, 30),
      before,
      { kind: 'split', places: [85], density: { items: 8, width: 81 } },
    ],
    [
      'twelve pages, and it is known how close they lie: a page is kept',
      answer(rising, 120),
      even,
      { kind: 'keep' },
    ],
    [
      'sixteen pages: it is cut, so that several are read at a time',
      answer(rising, 160),
      even,
      { kind: 'split', places: [85] },
    ],
    [
      'the same when plans take too much: a page is kept',
      answer(rising, 160),
      wasteful,
      { kind: 'keep' },
    ],
    [
      'less than half of a page can be kept: it is cut',
      answer([...rising.slice(0, 4), ...times(6, 40)], 30, ten),
      even,
      { kind: 'split', places: [40] },
    ],
    [
      'newest first, nothing known: where do items begin?',
      answer(falling, 30),
      before,
      { kind: 'look', page: 2, rows: 10 },
    ],
    ['newest first, a few pages: a page is kept', answer(falling, 30), even, { kind: 'keep' }],
    [
      'the same, but the list is in no order as a whole: the page is the end',
      answer(falling, 30),
      { ...even, isMixed: true },
      { kind: 'split', places: [911] },
    ],
    ['newest first, many pages', answer(falling, 200), even, { kind: 'look', page: 19 }],
    [
      'the same when plans take too much: where fifteen pages are left',
      answer(falling, 200),
      { ...wasteful, isMixed: true },
      { kind: 'look', page: 5 },
    ],
    [
      'in no order, a few pages: at a sample of the items',
      answer(mixed, 15),
      before,
      { kind: 'split', places: [420] },
    ],
    [
      'in no order, many pages: as if they lay evenly',
      answer(mixed, 200),
      before,
      { kind: 'split', places: [32], density: { items: 5, width: 22 } },
    ],
    [
      'one position: what comes before it',
      answer(times(10, 500), 30, ten),
      before,
      { kind: 'split', places: [499] },
    ],
    [
      'then the position itself',
      answer(times(10, 500), 30, ten),
      before,
      { kind: 'split', places: [500] },
      { from: 499, to: 1000 },
    ],
    [
      'then what follows it',
      answer(times(10, 500), 30, ten),
      before,
      { kind: 'split', places: [501] },
      { from: 500, to: 1000 },
    ],
    [
      'and when four such cuts have shown nothing else: where do items begin?',
      answer(times(10, 500), 30, ten),
      { ...before, peels: 4 },
      { kind: 'look', page: 2 },
    ],
    [
      'items that lie outside: the middle',
      answer(
        rising.map((at) => at - 50),
        30,
      ),
      before,
      { kind: 'split', places: [500], isShown: false },
    ],
    ['all in one answer', answer(rising.slice(0, 6), 6), before, { kind: 'deliver' }],
    [
      'fewer than the total, and fewer than a page: the next page',
      answer(rising.slice(0, 6), 7),
      before,
      { kind: 'next', page: 1, rows: 6 },
    ],
    [
      'the same where pages are known to be that short: it is cut',
      answer(rising.slice(0, 6), 9),
      { ...before, size: 6 },
      { kind: 'keep' },
    ],
    ['no total', answer(rising, null), before, { kind: 'pages' }],
  ])('%s', (_, page, facts, expected, range = thousand) => {
    expect(choose(after([[page]], range), facts, limits)).toMatchObject(expected);
  });

  test('newest first, after a look at where items begin: half a page from there', () => {
    const look = { page: 2, ats: [105, 100] };
    const step = choose(after([[answer(falling, 30)]]), before, limits, look);
    expect(step).toMatchObject({ kind: 'split', places: [250], density: { items: 5, width: 150 } });
  });

  test('what nobody could prove is asked for again', () => {
    expect(choose(after([[new Misplaced()]]), before, limits)).toEqual({ kind: 'again' });
  });
});

describe('where the next slice ends', () => {
  test.each<[string, Range, Facts, number | null]>([
    ['nothing is known', thousand, before, null],
    ['evenly: 0.85 of a page', thousand, even, 85],
    ['a rest that fits is read with it', { from: 0, to: 100 }, even, null],
    [
      'after a quiet time, an answer shows where items go on',
      thousand,
      { ...even, isQuiet: true },
      null,
    ],
    ['plans have taken too many requests', thousand, { ...even, answers: 100 }, null],
    [
      'hardly any items: at most eight times as wide',
      { from: 0, to: 9000 },
      { ...even, density: { items: 0.1, width: 100 } },
      800,
    ],
    ['an open end with little left', { from: 0, to: null }, { ...even, left: 12 }, null],
    ['an open end with much left', { from: 0, to: null }, { ...even, left: 40 }, 85],
    ['an open begin', all, even, null],
  ])('%s', (_, range, facts, expected) => {
    expect(endOf(range, facts, limits, 0)).toBe(expected);
  });

  test.each<[string, Partial<Parameters<typeof mayAskAhead>[0]>, Partial<Facts>, boolean]>([
    ['nothing is on its way', {}, {}, true],
    ['nothing is known', {}, { density: null }, false],
    ['as many requests as are meant to be', { open: 4 }, {}, false],
    ['six pages came, and somebody waits for another', { asked: 7, held: 59 }, {}, true],
    ['more than six', { asked: 7, held: 60 }, {}, false],
    ['nobody waits, and four slices are there', { asked: 4, isAwaited: false }, {}, false],
    ['in no order, four slices', { asked: 4 }, { isMixed: true }, false],
    ['two slices are left, one is on its way', { asked: 1, left: 2 }, {}, false],
  ])('may one more be asked for: %s', (_, ahead, facts, expected) => {
    const usual = { asked: 1, open: 0, held: 0, left: 100, isAwaited: true, ...ahead };
    expect(mayAskAhead(usual, { ...even, ...facts }, { ...limits, ahead: 4 })).toBe(expected);
  });
});

describe('what an answer shows', () => {
  const learned = (facts: Facts, pages: Page[], range: Range = thousand): Partial<Facts> => {
    const found: Facts = learn(facts, range, tryOf(pages, range), limits);
    const names = Object.keys(found) as (keyof Facts)[];
    return Object.fromEntries(
      names.filter((name) => found[name] !== facts[name]).map((name) => [name, found[name]]),
    );
  };
  const short = answer(rising.slice(0, 6), 30);

  test.each<[string, Facts, Page[], Partial<Facts>, Range?]>([
    [
      'a first range',
      before,
      [answer(rising.slice(0, 5), 5)],
      { fitting: 5, density: { items: 5, width: 1000 } },
    ],
    [
      'one as close as those before: they count half',
      even,
      [answer(rising.slice(0, 9), 9)],
      { fitting: 9, density: { items: 14, width: 150 } },
      { from: 0, to: 100 },
    ],
    [
      'one that is quite different: they do not count',
      even,
      [answer(rising.slice(0, 9), 9)],
      { fitting: 9, density: { items: 9, width: 1000 } },
    ],
    ['nothing', before, [answer([], 0)], { isQuiet: true, density: { items: 1, width: 1000 } }],
    ['an open range has no width', before, [answer(rising.slice(0, 5), 5)], { fitting: 5 }, all],
    ['a page with fewer items than were asked for', before, [short], { short: 6 }],
    ['and as few once more: a page holds no more', { ...before, short: 6 }, [short], { size: 6 }],
    [
      'then one with more: it does',
      { ...before, short: 6, size: 6 },
      [answer(rising, 30)],
      { size: 10 },
    ],
    ['a page in no order', before, [answer(mixed, 30)], { isMixed: true }],
    [
      'items outside of the range show no order',
      before,
      [
        answer(
          mixed.map((at) => at - 60),
          30,
        ),
      ],
      {},
    ],
    ['no answer to what was asked', before, [new Misplaced()], {}],
  ])('%s', (_, facts, pages, expected, range) => {
    expect(learned(facts, pages, range)).toEqual(expected);
  });
});
