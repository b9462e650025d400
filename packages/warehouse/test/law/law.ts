import assert from 'node:assert/strict';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { type Answer, createAnswer, type Question } from '@call-attribution/questions';
import fc from 'fast-check';
import type { Warehouse } from '../../src/index.ts';
import { cases } from './questions.ts';

// The law of questions: DuckDB and plain JavaScript give the same answer to the same question about the same calls: every cell, the
// order of the rows, the totals, and what is said beside them.

const [plain] = fixtureCalls(1);
const callWith = (sid: string, values: object): Call => Object.assign({}, plain, { sid }, values);

/** How the law is checked. */
export interface LawOptions {
  /** Sets of calls. */
  readonly runs: number;
  /** Questions about each set. */
  readonly questions: number;
  readonly seed?: number;
  /** Is told of each question, the calls it is about, and the answer. */
  readonly seen?: (question: Question, calls: readonly Call[], answer: Answer) => void;
}

/** Checks the law for random calls and questions. Both engines are new each time, apart from the file. */
export async function checkLaw(
  warehouse: Warehouse,
  { runs, questions, seed, seen = () => {} }: LawOptions,
): Promise<void> {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(cases(questions), async ([batches, asked]) => {
      run += 1;
      const nameOf = (account: string) => `${account}-${run}`;
      const stored = new Map<string, readonly [string, Call]>();
      for (const batch of batches) {
        for (const name of ['main', 'other']) {
          const own = batch.filter(({ account }) => account === name);
          const calls = [
            callWith('always', { date_added: '2026-10-15 12:00:00' }),
            ...own.map(({ account: _, sid, ...rest }) => callWith(`S${sid}`, rest)),
          ];
          await warehouse.load(nameOf(name), calls);
          for (const each of calls) stored.set(`${name} ${each.sid}`, [nameOf(name), each]);
        }
      }
      // A statement that is not read to its end keeps the file open between the questions.
      const reading = await warehouse.query('select 1');
      for (const each of asked) {
        const question = { ...each, accounts: (each.accounts ?? ['main', 'other']).map(nameOf) };
        const found = await warehouse.analyze(question);
        const { accounts } = found;
        // Half of the calls come from a saved part.
        const [part, whole] = [
          createAnswer<Question>(question, { accounts }),
          createAnswer<Question>(question, { accounts }),
        ];
        [...stored.values()].forEach(([account, each], i) => {
          (i % 2 === 0 ? part : whole).add(each, account);
        });
        whole.merge(JSON.parse(JSON.stringify(part.save())));
        assert.deepEqual(found, whole.answer());
        const calls = [...stored.values()].filter(([account]) => question.accounts.includes(account));
        seen(
          each,
          calls.map(([, call]) => call),
          found,
        );
      }
      await reading.close();
    }),
    {
      numRuns: runs,
      endOnFailure: process.env.CALLS_LAW_SHRINK === undefined,
      ...(seed === undefined ? {} : { seed }),
    },
  );
}
