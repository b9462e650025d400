import assert from 'node:assert/strict';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { type Answer, createAnswers, type Question } from '@call-attribution/questions';
import fc from 'fast-check';
import type { Warehouse } from '../../src/index.ts';
import { cases } from './questions.ts';

// The law of questions: DuckDB and plain JavaScript give the same answer to the same question about the same calls: every cell, the
// order of the rows, the totals, and what is said beside them.

const [plain] = fixtureCalls(1);
const callWith = (sid: string, values: object): Call => Object.assign({}, plain, { sid }, values);

/** How the law is checked. */
export interface LawOptions {
  /** Sets of calls, each in a warehouse of its own. */
  readonly sets: number;
  /** Questions about each set. Loading one takes as long as some ten questions. */
  readonly questions: number;
  readonly seed?: number;
  /** Is told of each question, the calls it is about, and the answer. */
  readonly seen?: (question: Question, calls: readonly Call[], answer: Answer) => void;
}

/** Checks the law for random calls and questions. `open` makes an empty warehouse for each set of calls. */
export async function checkLaw(
  open: () => Promise<Warehouse>,
  { sets, questions, seed, seen = () => {} }: LawOptions,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(cases(questions), async ([batches, asked]) => {
      const warehouse = await open();
      const stored = new Map<string, readonly [string, Call]>();
      for (const [account, records] of batches) {
        const calls = [
          callWith('always', { date_added: '2026-10-15 12:00:00' }),
          ...records.map(({ sid, ...rest }) => callWith(`S${sid}`, rest)),
        ];
        await warehouse.load(account, calls);
        for (const each of calls) stored.set(`${account} ${each.sid}`, [account, each]);
      }
      // A statement that is not read to its end keeps the file open between the questions.
      const reading = await warehouse.query('select 1');
      try {
        for (const [i, question] of asked.entries()) {
          const found = await answerOf(warehouse, question, asked[i - 1]);
          const all = [...stored.values()];
          assert.deepEqual(found, answerInParts(question, all, found.accounts));
          const { accounts } = question;
          const calls = all.filter(([account]) => accounts?.includes(account) ?? true);
          seen(
            question,
            calls.map(([, call]) => call),
            found,
          );
        }
      } finally {
        await reading.close();
        await warehouse.close();
      }
    }),
    {
      numRuns: sets,
      endOnFailure: process.env.CALLS_LAW_SHRINK === undefined,
      ...(seed === undefined ? {} : { seed }),
    },
  );
}

/** The answer of the warehouse; each second question is asked together with one about the same calls, with the measures of another one. */
async function answerOf(
  warehouse: Warehouse,
  question: Question,
  { measures }: Question = {},
): Promise<Answer> {
  if (measures === undefined || measures.length % 2 === 0) return warehouse.analyze(question);
  const { groupBy: _, having: __, order: ___, topPer: ____, spend: _____, ...same } = question;
  const [, found] = await warehouse.analyzeAll([{ ...same, measures }, question]);
  assert.ok(found);
  return found;
}

/** The answer of plain JavaScript. Half of the calls come from a saved part. */
function answerInParts(
  question: Question,
  calls: readonly (readonly [account: string, Call])[],
  accounts: Answer['accounts'],
): Answer {
  const [part, whole] = [createAnswers([question], { accounts }), createAnswers([question], { accounts })];
  for (const [i, [account, call]] of calls.entries()) (i % 2 === 0 ? part : whole).add(call, account);
  whole.merge(part);
  return whole.answers()[0] as Answer;
}
