import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, expect, test } from 'vitest';

const tally = openDrill({
  name: 'planted-answers',
  kind: 'random histories',
  what: 'Each of some mistakes, planted in one of the two engines of questions, is found by the law of random questions',
});

/** What a mistake is about, its file, the right text and the wrong one. */
const mistakes: readonly (readonly [what: string, file: string, right: string, wrong: string])[] = [
  [
    'a missed call',
    'warehouse/src/ask/compose.ts',
    "countIf(op('=', talk, zero))",
    "countIf(op('<=', talk, zero))",
  ],
  ['the number of a weekday', 'warehouse/src/sql/functions.ts', "one('isodow')", "one('dayofweek')"],
  [
    'the month of a compared period',
    'warehouse/src/ask/compose.ts',
    'literal(moved.month - 1)',
    'literal(-1)',
  ],
  ['the rank of a percentile', 'warehouse/src/ask/compose.ts', '(talk, 0.5, 0.9)', '(talk, 0.5, 0.8)'],
  [
    'callers with several calls',
    'warehouse/src/ask/callers.ts',
    "op('>', n, literal(1))",
    "op('>', n, literal(2))",
  ],
  [
    'an empty value',
    'warehouse/src/ask/compose.ts',
    "or(isNull(own), op('=', own, literal('')))",
    'isNull(own)',
  ],
  [
    'rows without a value',
    'warehouse/src/sql/print.ts',
    "'DESC' : 'ASC'} NULLS LAST`",
    "'DESC' : 'ASC'} NULLS FIRST`",
  ],
  ['the case of a pattern', 'warehouse/src/where/sql.ts', 'fn.like(fn.lower(sql),', 'fn.like(sql,'],
  [
    'up to a day',
    'warehouse/src/where/sql.ts',
    "case '<=':\n      return op('<', sql, to);",
    "case '<=':\n      return op('<=', sql, from);",
  ],
  [
    'the end of a period',
    'warehouse/src/ask/selected.ts',
    "op('<', time, timeSql(to))",
    "op('<=', time, timeSql(to))",
  ],
  [
    "the order of a caller's calls",
    'warehouse/src/tables/derived.ts',
    "{ by: column('sid'), descending: false }",
    "{ by: column('sid'), descending: true }",
  ],
  [
    'time from visit to call',
    'warehouse/src/tables/derived.ts',
    "op('<=', displayed, added)",
    "op('<', displayed, added)",
  ],
  [
    'a missed call',
    'questions/src/fields/facts.ts',
    'talk === 0 ? 1 : 0',
    'talk !== null && talk <= 0 ? 1 : 0',
  ],
  [
    'weeks from Sunday',
    'questions/src/fields/calendar.ts',
    'Math.floor((number + 1) / 7) * 7 - 1',
    'Math.floor((number + 1) / 7) * 7',
  ],
  [
    'the opposite of what cannot be said',
    'questions/src/conditions/holds.ts',
    'return holds === null ? null : !holds;',
    'return !holds;',
  ],
  [
    'the case of a text',
    'questions/src/conditions/holds.ts',
    'return (value) => (fold(String(value)) === folded)',
    'return (value) => (String(value) === text)',
  ],
  [
    'a value among several',
    'questions/src/conditions/holds.ts',
    'known.has(exact ? String(value) : fold(String(value)))',
    'known.has(String(value))',
  ],
  [
    'callers with several calls',
    'questions/src/engine/cell.ts',
    'return different(caller, memory, 2);',
    'return different(caller, memory, 3);',
  ],
  [
    'the rank of a percentile',
    'questions/src/engine/cell.ts',
    'ranked(({ talk }) => talk, memory, part.part, part.of)',
    'ranked(({ talk }) => talk, memory, 1, part.of)',
  ],
  [
    'an empty value',
    'questions/src/engine/cell.ts',
    "return value === null || value === '';",
    'return value === null;',
  ],
  [
    'what can be said of a call',
    'questions/src/engine/cell.ts',
    'judge(facts) !== null);',
    'judge(facts) !== true);',
  ],
  ['the end of a period', 'questions/src/engine/select-calls.ts', 'time < to)', 'time <= to)'],
  [
    "the place of a call among its caller's",
    'questions/src/engine/sequences.ts',
    "compareText(this.#sids[a] ?? '', this.#sids[b] ?? '')",
    "compareText(this.#sids[b] ?? '', this.#sids[a] ?? '')",
  ],
  ['time from visit to call', 'questions/src/fields/facts.ts', 'seen > this.sentAt', 'seen >= this.sentAt'],
];

const folder = mkdtempSync(join(tmpdir(), 'planted-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const source = new URL('../fixtures/planted-law.ts', import.meta.url).href;

/** A mistake has to be found within so many sets of calls, each with 50 questions; it is the same ones each time, however long they take. */
const mostSets = 40;
/** Only a program that hangs takes longer, on the busiest machine. */
const patience = 4 * 3_600_000;

/** Whether the law finds a difference within so many sets of calls, and after how many questions. */
async function checked(
  program: string,
  name: string,
  sets: number,
): Promise<{ differs: boolean; asked: number }> {
  tally.add({ runs: 1 });
  const own = join(folder, name);
  mkdirSync(own);
  const args = [program, own, String(sets)];
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout);
}

test(
  'without a mistake nothing is found',
  async () => {
    const program = await builtFile(source);
    expect(await checked(program, 'right', 2)).toEqual({ differs: false, asked: 100 });
  },
  patience,
);

test.each(mistakes)(
  '%s: %s',
  async (what, file, right, wrong) => {
    const program = await builtFile(source, [
      {
        name: 'mistake',
        setup({ onLoad }) {
          onLoad({ filter: new RegExp(`${file.replaceAll('.', '\\.')}$`) }, ({ path }) => {
            const text = readFileSync(path, 'utf8');
            expect(text.split(right), what).toHaveLength(2);
            return { contents: text.replace(right, () => wrong), loader: 'ts' };
          });
        },
      },
    ]);
    const name = `${mistakes.findIndex((each) => each[3] === wrong)}`;
    const { differs, asked } = await checked(program, name, mostSets);
    expect(differs, `${what}, in ${asked} questions`).toBe(true);
    tally.happened('mistakes found');
  },
  patience,
);
