import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, expect, test } from 'vitest';
import { mistakes } from '../fixtures/planted-mistakes.ts';

const tally = openDrill({
  name: 'planted-answers',
  kind: 'random histories',
  what: 'Each of some mistakes, planted in one of the two engines of questions, is found by the law of random questions',
});

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
          onLoad({ filter: new RegExp(`${file.replaceAll('.', '\\.')}$`) }, ({ path }) => ({
            contents: readFileSync(path, 'utf8').replace(right, () => wrong),
            loader: 'ts',
          }));
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
