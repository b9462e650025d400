import { readFileSync } from 'node:fs';

// Mistakes that are planted in the text of the reader, of syncs and of exports by month: those that
// lie inside of a function. Wrong functions in the place of right ones are in wrong-functions.ts.

/** A file of the package, what it says, and the mistake. */
type Mistake = readonly [file: string, right: string, wrong: string];

/** The simulator must find each of them. */
const planted: Readonly<Record<string, Mistake>> = {
  'an answer with fewer items than its total is believed': [
    'reader/allowed.ts',
    'const isProved = isSteady && got === total && items.size === total;',
    'const isProved = isSteady && got + 1 >= total;',
  ],
  'what comes after a total is left': [
    'reader/allowed.ts',
    'if (isPassed(last) && before !== undefined && isPassed(before))',
    'if (false)',
  ],
  'pages end with the total': [
    'reader/by-pages.ts',
    'const isDone = total !== null && got >= total && next.items.length < rows;',
    'const isDone = total !== null && got >= total;',
  ],
  'rows that come twice and are counted once are not told': [
    'reader/allowed.ts',
    '(areCountedTwice || areCountedOnce)',
    'areCountedTwice',
  ],
  'a doubled row comes in its first form': [
    'reader/allowed.ts',
    'items.set(item.id, item);',
    'if (!items.has(item.id)) items.set(item.id, item);',
  ],
  'what lies at a border comes twice': [
    'reader/seen.ts',
    'if (this.add(item) && ',
    'if ((this.add(item) || this.mayComeAgain(item, range)) && ',
  ],
  'items of the border are counted twice': [
    'proof.ts',
    'counted: (a.counted ?? 0) + (b.counted ?? 0) - b.shared,',
    'counted: (a.counted ?? 0) + (b.counted ?? 0),',
  ],
  'a full second is read as far as its first page': [
    'reader/allowed.ts',
    'const isMore = !last.isEnded && (',
    'if (last.further > 0) return { ...nothing, deliver: { items: [...items.values()], total, is: "proved" } }; const isMore = !last.isEnded && (',
  ],
  'pages of a full second that do not agree are believed': [
    'reader/allowed.ts',
    'const isProved = isSteady && got === total && items.size === total;',
    'const isProved = got >= total;',
  ],
  'requests never end': [
    'reader/requests.ts',
    'const fewRequests = 100;',
    'const fewRequests = 100_000;',
  ],
  'what a page does not show is not counted': [
    'reader/slices.ts',
    'came.total === others',
    'came.total !== null',
  ],
  'a list without totals ends with its first page': [
    'reader/by-pages.ts',
    'const isSame = fresh.length === 0 && shared.size === before;',
    'const isSame = true;',
  ],
  'cursors are forgotten': ['reader/by-pages.ts', 'after = cursor;', 'after = null;'],
  'an empty page ends a list that goes on by cursors': [
    'reader/by-pages.ts',
    "const isCursor = typeof cursor === 'string'",
    "const isCursor = next.items.length > 0 && typeof cursor === 'string'",
  ],
  'a count that differs is taken for the truth': [
    'proof.ts',
    'if (found === whole.counted) return',
    'if (found === whole.counted || group.length === 1) return',
  ],
  'pages of a range are gone on with in a longer one': [
    'reading.ts',
    'if (next !== undefined && pagesTo !== null && pagesTo !== next.to)',
    'if (false)',
  ],
  'a checkpoint is a slice behind': [
    'reading.ts',
    'const all = [...items]; const place = this.#placeOf();',
    'const place = this.#placeOf(); const all = [...items];',
  ],
};

/** Mistakes that cost requests and nothing else: the law of requests must find each of them. */
const costly: Readonly<Record<string, Mistake>> = {
  'a quiet time is gone through by plans': [
    'reader/choose.ts',
    'const begin = look.ats.reduce((a, b) => Math.min(a, b), oldest);',
    'const begin = range.from ?? look.ats.reduce((a, b) => Math.min(a, b), oldest);',
  ],
  'plans that take too many requests are not given up': [
    'reader/choose.ts',
    'return answers > (perPage * fitting)',
    'return answers > 1e9 * (perPage * fitting)',
  ],
};

/** Mistakes in syncs: the lives of copies must find each of them. */
const ofCopies: Readonly<Record<string, Mistake>> = {
  'a clock tells which run has read something': [
    'sync/run.ts',
    '(one) => !isOld(one) && one.run !== this.#run)',
    '(one) => !isOld(one) && (one.read ?? 0) < this.#startedAt)',
  ],
  'a clock tells which calls lie at the end of a stretch': [
    'sync/take.ts',
    'ats.filter((at) => at === border).length',
    'times.filter((at) => at === border).length',
  ],
  'what is young and another run has read is not counted': [
    'sync/run.ts',
    '(one) => !isOld(one) && one.run !== this.#run)',
    '() => false)',
  ],
  'what was read and not counted is whole': [
    'sync/copy-verdict.ts',
    "one.is === 'proved' && one.at === null ? { ...one, is: 'unproven', why: 'uncounted' } : one",
    'one',
  ],
  'what a run that died has read without a refused call is not read again': [
    'sync/conclude.ts',
    "const isPart = isLeft && one.is !== 'proved' && why !== 'no_total';",
    'const isPart = false;',
  ],
  'a stretch without a refused call is not read again': [
    'sync/plan.ts',
    "if (one.is === 'proved' ? one.counted === null : one.why !== 'no_total') return [one];",
    "if (one.is === 'proved' && one.counted === null) return [one];",
  ],
  'what may have changed since a run that died has read it is not read again': [
    'sync/conclude.ts',
    'const isStale = isLeft && mayHaveChanged && elapsed > hour && maxPages === undefined;',
    'const isStale = false;',
  ],
  'a range that maxPages cuts counts as read': [
    'sync/run.ts',
    'isDone = slice.stretches !== null && slice.to === range.to;',
    'isDone = true;',
  ],
  'a run that maxPages ends counts as one that has read everything': [
    'sync/run.ts',
    'if (this.#pagesLeft <= 0 || !(yield* this.#readRange(range, others, counts))) return;',
    'if (this.#pagesLeft > 0) yield* this.#readRange(range, others, counts);',
  ],
};

/** Mistakes in exports by month: the lives of exports must find each of them. */
const ofExports: Readonly<Record<string, Mistake>> = {
  'a month with the receipt of a reversed period is whole': [
    'receipts/receipt.ts',
    'const isReversed = [receipt, receipt.asked ?? receipt].some(isEndFirst);',
    'const isReversed = false;',
  ],
  'months of another server are gone on with': [
    'months/export-months.ts',
    'receipt !== null && receipt.source !== address',
    'false',
  ],
  'a month of another period is kept': [
    'months/export-months.ts',
    'before?.bytes?.length === size && before.filter === filter',
    'before?.bytes?.length === size',
  ],
  'each month of years without calls has a file': [
    'months/export-months.ts',
    'if (read.others.size === 0 && !quiet.has(month)) {',
    'if (false) {',
  ],
  'months are proved to be empty before their calls have files': [
    'months/export-months.ts',
    'const isProved = found.length === 0;',
    'const isProved = true;',
  ],
};

const all = { ...planted, ...costly, ...ofCopies, ...ofExports };

/** Their names. */
export const mistakes = Object.keys(planted);
export const costlyMistakes = Object.keys(costly);
export const copyMistakes = Object.keys(ofCopies);
export const monthMistakes = Object.keys(ofExports);

/** Where a source says this, however its lines are broken. */
function placeIn(text: string, right: string): { index: number; end: number } | null {
  const words = right
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  const found = new RegExp(words.join('\\s+')).exec(text);
  return found === null ? null : { index: found.index, end: found.index + found[0].length };
}

/** The mistakes that cannot be planted any more, since their source says something else now. */
export function mistakesWithoutPlace(): string[] {
  return Object.entries(all)
    .filter(([, [file, right]]) => {
      const source = new URL(`../../src/${file}`, import.meta.url);
      return placeIn(readFileSync(source, 'utf8'), right) === null;
    })
    .map(([name]) => name);
}

/** A plugin for a bundle that plants one of them. */
export function plant(name: string) {
  const [file, right, wrong] = all[name] as Mistake;
  return {
    name: 'mistake',
    setup({ onLoad }: { onLoad: (...args: never[]) => void }): void {
      const load = ({ path }: { path: string }) => {
        const text = readFileSync(path, 'utf8');
        if (!path.endsWith(`/src/${file}`)) return { contents: text, loader: 'ts' };
        const at = placeIn(text, right);
        if (at === null) throw new Error(`${file} does not say: ${right}`);
        return { contents: text.slice(0, at.index) + wrong + text.slice(at.end), loader: 'ts' };
      };
      (onLoad as (...args: unknown[]) => void)(
        { filter: /node-stream\/src\/([a-z]+\/)?[a-z-]+\.ts$/ },
        load,
      );
    },
  };
}
