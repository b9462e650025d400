import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

// Mistakes that are planted in the text of the reader.

/** A file of the reader, what it says, and the mistake. */
type Mistake = readonly [file: string, right: string, wrong: string];

/** The simulator must find each of them. */
const planted: Readonly<Record<string, Mistake>> = {
  'an answer with fewer items than its total is believed': [
    'slices.ts',
    'const isProved = isSteady && got === total && items.size === total;',
    'const isProved = isSteady && got + 1 >= total;',
  ],
  'a full page is taken for the whole slice': [
    'slices.ts',
    'let isFull = got >= this.#options.rows;',
    'let isFull = false;',
  ],
  'a total is believed after the last page of its items': [
    'slices.ts',
    'isFull = next.ids.length >= rows;',
    'isFull = false;',
  ],
  'what comes after a total is left': [
    'slices.ts',
    "if (isPassed && last.isPassed) return 'pages';",
    '',
  ],
  'pages end with the total': [
    'slices.ts',
    'const isDone = total !== null && got >= total && next.ids.length < rows;',
    'const isDone = total !== null && got >= total;',
  ],
  'rows that come twice and are counted once are not told': [
    'slices.ts',
    '(areCountedTwice || areCountedOnce)',
    'areCountedTwice',
  ],
  'a total that is not there is not asked for': [
    'totals.ts',
    'if (total !== null || page.rows === 0 || this.#areGiven === false) return total;',
    'return total;',
  ],
  'one row is taken for all of a list': [
    'totals.ts',
    'this.#areGiven ??= this.#told(await rows.ofAll()) !== null;',
    'this.#areGiven ??= true;',
  ],
  'a doubled row is not told': ['slices.ts', 'else doubled.push(id);', 'else shared += 1;'],
  'a doubled row comes in its first form': [
    'slices.ts',
    'items.set(id, { answer: page, index });',
    'if (!items.has(id)) items.set(id, { answer: page, index });',
  ],
  'ranges do not share their border': [
    'slices.ts',
    'from: ends[i - 1] ?? piece.from,',
    'from: i === 0 ? piece.from : (ends[i - 1] ?? 0) + step,',
  ],
  'slices that are read ahead do not share their border': [
    'slices.ts',
    'next, { from: end, to: piece.to }',
    'next, { from: end + this.#options.step, to: piece.to }',
  ],
  'what lies at a border comes twice': [
    'slices.ts',
    'if (this.#seen.add(id) && ',
    'if ((this.#seen.add(id) || this.#mayComeAgain(id, found, piece)) && ',
  ],
  'the end of a border second is forgotten in checkpoints': [
    'slices.ts',
    'Number.POSITIVE_INFINITY : to - this.#options.step;',
    'Number.POSITIVE_INFINITY : to + 2 * this.#options.step;',
  ],
  'the border of an earlier run is forgotten': [
    'slices.ts',
    'for (const id of from?.border ?? [])',
    'for (const id of from?.border.slice(1) ?? [])',
  ],
  'items of the border are counted twice': [
    'proof.ts',
    'counted: (a.counted ?? 0) + (b.counted ?? 0) - b.shared,',
    'counted: (a.counted ?? 0) + (b.counted ?? 0),',
  ],
  'a slice that never agrees is called proved': [
    'slices.ts',
    "return { ...most, is: 'short', why: 'fewer', missing };",
    "return { ...most, is: 'proved' };",
  ],
  'a slice that never agrees is tried without end': [
    'slices.ts',
    'for (let pass = 1; pass <= tries; pass += 1) {\n      const answer',
    'for (let pass = 1; pass <= tries; pass += 0.001) {\n      const answer',
  ],
  'what a slice brought in earlier tries is lost': [
    'slices.ts',
    'for (const [id, one] of found.items) all.set(id, one);',
    'for (const [id, one] of found.items) all.set(id, one);\n      if (pass === tries) all.clear();',
  ],
  'a full second is read as far as its first page': [
    'slices.ts',
    'if (next.ids.some',
    'if (rows < got) return { items, twice, isProved: true }; if (next.ids.some',
  ],
  'pages of a full second that do not agree are believed': [
    'slices.ts',
    'const isProved = isSteady && got === total && items.size === total;',
    'const isProved = got >= total;',
  ],
  'requests never end': ['slices.ts', 'const fewRequests = 100;', 'const fewRequests = 100_000;'],
  'totals are asked for their worth': [
    'slices.ts',
    'if (this.#requests > free + requestsPerSlice * this.#delivered)',
    'if (this.#requests > fewRequests + (this.#first ?? 0))',
  ],
  'a server that ignores ranges is read on': ['judge.ts', "return 'outside'", "return 'full'"],
  'items just outside a range are an error': [
    'judge.ts',
    'const to = (range.to ?? Number.POSITIVE_INFINITY) + limits.stray;',
    'const to = range.to ?? Number.POSITIVE_INFINITY;',
  ],
  'what lies at a border is told as doubled': ['slices.ts', 'this.#border.get(id) === at ||', ''],
  'a list without totals is called complete': [
    'slices.ts',
    "if (total === null) judged = { is: 'unproven', why: 'no_total' };",
    "if (total === null) judged = { is: 'proved' };",
  ],
  'what a page does not show is not counted': [
    'slices.ts',
    'total === count + came.total',
    'total >= count',
  ],
  'a list without totals ends with its first page': [
    'slices.ts',
    'const isSame = fresh.length === 0 && shared.size === before;',
    'const isSame = true;',
  ],
  'cursors are forgotten': ['slices.ts', 'after = cursor;', 'after = null;'],
  'an empty page ends a list that goes on by cursors': [
    'slices.ts',
    "const isCursor = typeof cursor === 'string'",
    "const isCursor = next.ids.length > 0 && typeof cursor === 'string'",
  ],
  'the pages of an earlier run are read again': [
    'slices.ts',
    'let page = begun?.done ?? 0;',
    'let page = 0;',
  ],
  'the last slice is left out': [
    'slices.ts',
    'while (this.#work.length > 0) {',
    'while (this.#work.length > 0 && !(this.#delivered > 4 && this.#work.length === 1)) {',
  ],
  'a request that failed counts as an empty list': [
    'slices.ts',
    'if (error instanceof Misplaced) return error;\n      throw error;',
    'if (error instanceof Misplaced) return error;\n      return { ids: [], ats: [], total: 0, item: () => { throw error; } };',
  ],
  'the count at the end is left out': [
    'reading.ts',
    'if (this.#slicesRead !== 1 || this.#isResumed) {',
    'if (this.#slicesRead < 0) {',
  ],
  'a count that differs is taken for the truth': [
    'proof.ts',
    'if (found === whole.counted) return',
    'if (found === whole.counted || group.length === 1) return',
  ],
  'the first answer is forgotten': [
    'proof.ts',
    'if (first !== null && first > known',
    'if (first !== null && first < 0 && first > known',
  ],
  'a checkpoint is a slice behind': [
    'reading.ts',
    'const place = placeOf(of, this.#commit(slice, taking.left));',
    'const place = placeOf(of, this.#state); this.#commit(slice, taking.left);',
  ],
  'a checkpoint is a slice ahead': [
    'reading.ts',
    'stretches.reduce<readonly Stretch<P>[]>(add, before.stretches)',
    'stretches.map((one) => ({ ...one, to: one.to === null ? null : (((one.to as number) + 9000) as P) })).reduce<readonly Stretch<P>[]>(add, before.stretches)',
  ],
};

/** Mistakes that cost requests and nothing else: the law of requests must find each of them. */
const costly: Readonly<Record<string, Mistake>> = {
  'a quiet time is gone through by plans': [
    'slices.ts',
    'from = others.reduce((a, b) => Math.min(a, b), first);',
    'from = piece.from ?? others.reduce((a, b) => Math.min(a, b), first);',
  ],
  'plans that take too many requests are not given up': [
    'slices.ts',
    'return answers > (perPage * this.#fitting)',
    'return answers > 1e9 * (perPage * this.#fitting)',
  ],
};

/** Their names. */
export const mistakes = Object.keys(planted);
export const costlyMistakes = Object.keys(costly);

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
  return Object.entries({ ...planted, ...costly })
    .filter(([, [file, right]]) => {
      const source = new URL(`../../src/${file}`, import.meta.url);
      return placeIn(readFileSync(source, 'utf8'), right) === null;
    })
    .map(([name]) => name);
}

/** A plugin for the bundle of a reader that plants one of them. */
export function plant(name: string) {
  const [file, right, wrong] = (planted[name] ?? costly[name]) as Mistake;
  return {
    name: 'mistake',
    setup({ onLoad }: { onLoad: (...args: never[]) => void }): void {
      const load = ({ path }: { path: string }) => {
        const text = readFileSync(path, 'utf8');
        if (basename(path) !== file) return { contents: text, loader: 'ts' };
        const at = placeIn(text, right);
        if (at === null) throw new Error(`${file} does not say: ${right}`);
        return { contents: text.slice(0, at.index) + wrong + text.slice(at.end), loader: 'ts' };
      };
      (onLoad as (...args: unknown[]) => void)({ filter: /node-stream\/src\/[a-z-]+\.ts$/ }, load);
    },
  };
}
