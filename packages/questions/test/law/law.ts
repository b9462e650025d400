import assert from 'node:assert/strict';
import type { Call } from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/record';
import { isIn, parseNaive } from '@call-attribution/core/time';
import fc from 'fast-check';
import {
  type Answer,
  type ColumnBatch,
  createAnswers,
  planQuestion,
  type Question,
} from '../../src/index.ts';
import { measureForms } from '../../src/question/measures.ts';
import { type Asked, cases, type Sent } from './cases.ts';
import { answerOf, type Mistakes, type Told } from './oracle.ts';

// The law of questions: records, records in parts and columns give the answer that plain loops
// give.

/** A question as a program asks it. */
function questionOf(asked: Asked): Question {
  const { where, time, from, to, compare, topPer, limit, having } = asked;
  const compared =
    compare === null || compare === 'previous' ? compare : `${compare.from} to ${compare.to}`;
  const conditions = [where, time].flatMap((said) => (said === null ? [] : [`(${said.text})`]));
  return {
    groupBy: asked.groupBy,
    measures: asked.measures,
    calls: asked.calls,
    personal: 'show',
    ...(asked.inZone
      ? { timeZone: 'America/New_York', inZone: 'Europe/Berlin' }
      : { timeZone: 'UTC' }),
    ...(conditions.length === 0 ? {} : { where: conditions.join(' AND ') }),
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
    ...(compared === null ? {} : { compare: compared }),
    ...(topPer === null ? {} : { topPer }),
    ...(limit === null ? {} : { limit }),
    ...(having ? { having: 'calls >= 2' } : {}),
  };
}

const batchOf = (all: readonly Sent['fields'][], fields: readonly string[]): ColumnBatch => ({
  length: all.length,
  columns: Object.fromEntries(fields.map((name) => [name, all.map((of) => of[name] ?? null)])),
});

/** The time of a call as a store knows it. */
function timeOf({ date_added }: Sent['fields']): number | null {
  const time = parseNaive(String(date_added));
  return Number.isNaN(time) ? null : time;
}

/**
 * The answers over records in any order, over two halves of them, over columns, and over those
 * calls and fields alone that the plan needs.
 */
async function answersOf(
  asked: readonly Asked[],
  calls: readonly Sent[],
  syncedAt: number | null,
): Promise<Answer[][]> {
  const recordOf = ({ sid, fields }: Sent): Call => ({ sid, ...fields }) as unknown as Call;
  const found: Answer[][] = [];
  for (const one of asked) {
    const plan = planQuestion(questionOf(one), { now: one.now });
    const others = planQuestion({ measures: ['calls'] }, { now: one.now });
    const make = () => createAnswers([plan, others]);
    const statuses = [...new Set(calls.map(({ account }) => account))].map((account) => ({
      account,
      calls: 1,
      first: null,
      last: null,
      since: null,
      storedAt: null,
      syncedAt: syncedAt === null ? null : new Date(syncedAt).toISOString(),
    }));
    const whole = make();
    const left = make();
    const right = make();
    const columns = make();
    const needed = createAnswers([plan]);
    for (const [i, call] of calls.entries()) {
      whole.add(recordOf(call), call.account);
      (i % 2 === 0 ? left : right).add(recordOf(call), call.account);
    }
    left.merge(right);
    const fields = [...new Set(columns.needs.flatMap((need) => need.fields))];
    for (const { account } of statuses) {
      const own = calls.filter((call) => call.account === account).sort(byTime);
      const has = own.map(
        ({ fields }) => ({ ...fields, is_extension: isCallExtension(fields) }) as Sent['fields'],
      );
      await columns.addAll([batchOf(has, fields)], account);
      for (const need of needed.needs) {
        const some = has.filter((each) => isIn(need.period, timeOf(each)));
        await needed.addAll([batchOf(some, need.fields)], account);
      }
    }
    found.push([whole, left, columns, needed].map((each) => each.answers(statuses)[0] as Answer));
  }

  return found;
}

const byTime = (a: Sent, b: Sent): number =>
  `${a.fields.date_added || '~'} ${a.sid}` < `${b.fields.date_added || '~'} ${b.sid}` ? -1 : 1;

/** Numbers that differ only in their last digits are the same. */
function assertSame(found: Answer, told: Told): void {
  const cell = (value: unknown): unknown =>
    typeof value === 'number' ? Number(value.toPrecision(9)) : value;

  const plain = ({ rows, total, calls, groups, extensions }: Told): unknown =>
    JSON.parse(
      JSON.stringify({ rows, total, calls, groups, extensions }, (_, value: unknown) =>
        cell(value),
      ),
    );

  assert.deepEqual(plain(found as Told), plain(told));
}

/**
 * Checks the law for random calls and questions. With mistakes in the oracle it has to be broken.
 */
export async function checkLaw(options: {
  readonly sets: number;
  readonly questions: number;
  readonly seed?: number;
  readonly mistakes?: Mistakes;
  readonly seen?: (answer: Answer) => void;
}): Promise<void> {
  const { sets, questions, seed, mistakes, seen = () => {} } = options;
  await fc.assert(
    fc.asyncProperty(cases(measureForms, questions), async ({ calls, syncedAt, asked }) => {
      const all = await answersOf(asked, calls, syncedAt);
      for (const [i, [whole, parts, columns, needed]] of all.entries()) {
        const one = asked[i];
        assert.ok(one && whole && parts && columns && needed);
        assertSame(whole, answerOf(one, calls, syncedAt, mistakes));
        assert.deepEqual(parts, whole);
        assert.deepEqual({ ...columns, notes: [] }, { ...whole, notes: [] });
        assertSame(needed, whole);
        seen(whole);
      }
    }),
    {
      numRuns: sets,
      endOnFailure: process.env.CALLS_LAW_SHRINK === undefined,
      ...(seed === undefined ? {} : { seed }),
    },
  );
}
