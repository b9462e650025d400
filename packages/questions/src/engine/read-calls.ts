import { finishAnswer } from '../answer/finish.ts';
import type { Sequence } from '../fields/facts.ts';
import type { Answer } from '../question/answer.ts';
import { planQuestion } from '../question/plan.ts';
import type { Question } from '../question/question.ts';
import { factsOf } from './answer-question.ts';
import { QuestionCount } from './count.ts';
import { usualMemory } from './parts.ts';

/** Calls of which a database has read what questions ask most: a list for each column, all of one length. */
export interface ReadCalls {
  /** `date_added` in seconds since 1970 on the clock of the API; null when it is not a time. */
  readonly at: readonly (number | null)[];
  /** `talk_minutes` in tenths; null when it is not a number of tenths. */
  readonly tenths: readonly (number | null)[];
  /** Whether the call came through a call extension of an ad. */
  readonly isExtension: readonly boolean[];
  /** Whether it is the first call of its caller to the account. */
  readonly isFirst: readonly boolean[];
  /** The values of each text field that was read, in the order of the fields. */
  readonly values: readonly (readonly (string | null)[])[];
}

/** Of the first call of its caller, and of no other known one. Of read calls nothing else is asked. */
const firstOfAll: Sequence = {
  ...{ nth: 1, sincePrevious: null, untilNext: null, untilAnswered: null, untilEnd: null },
  ...{ first: null, last: null },
};

/** Begins answers to several questions over calls of one account of which a database has read the times and numbers, and these fields of text. */
export function answersOfRead(
  questions: readonly Question[],
  fields: readonly string[],
  { account }: { readonly account: string },
): { add(calls: ReadCalls): void; answers(): Answer[] } {
  const all = questions.map((question) => {
    const asked = planQuestion(question);
    // Which calls have no caller is not known of them.
    const measures = asked.measures.map((measure) => ({ ...measure, counted: null }));
    const plan = { ...asked, measures, needsSequence: false };
    return { plan, count: new QuestionCount(plan, usualMemory) };
  });
  const facts = factsOf(undefined);
  const record: Record<string, unknown> = {};
  return {
    add({ at, tenths, isExtension, isFirst, values }) {
      for (let i = 0; i < at.length; i += 1) {
        for (const [column, name] of fields.entries()) record[name] = values[column]?.[i] ?? null;
        const seconds = at[i] ?? null;
        facts.setKnown(record, account, {
          sentAt: seconds === null ? null : seconds * 1000,
          talk: tenths[i] ?? null,
          isExtension: isExtension[i] === true,
          caller: null,
        });
        facts.sequence = isFirst[i] === true ? firstOfAll : null;
        for (const { count } of all) count.add(facts, '');
      }
    },
    answers: () => all.map(({ plan, count }) => finishAnswer(plan, count.counted(undefined, facts))),
  };
}
