import type { Call } from '@call-attribution/core';
import type { Test } from '../conditions/condition.ts';
import { compileCondition } from '../conditions/holds.ts';
import { writtenTruths } from '../conditions/judged.ts';
import { Batch, readLists } from '../fields/batch.ts';
import { Numbering } from '../fields/numbering.ts';
import { allFields } from '../fields/vocabulary.ts';
import { recordFields } from '../question/needs.ts';
import { testedBy } from './parts.ts';
import { columnsOf } from './records.ts';

/**
 * What `judgedField` of some masked calls has to hold: what the tests of `judgedEarly` say of
 * the calls as they were sent. Null for a call of which its masked form says the same.
 *
 * @param calls as they were sent.
 * @param masked the same calls in the same order.
 */
export function maskedTruths(
  tests: readonly Test[],
  calls: readonly Call[],
  masked: readonly Call[],
): readonly (string | null)[] {
  if (tests.length === 0) return calls.map(() => null);
  const before = truthsOn(calls, tests);
  const after = truthsOn(masked, tests);
  return calls.map((_, at) => writtenTruths(before[at] ?? [], after[at] ?? []));
}

/** Which tests are true of each call. */
function truthsOn(
  calls: readonly Call[],
  tests: readonly Test[],
): readonly (readonly (boolean | null)[])[] {
  const fields = recordFields({ groups: [], parts: [], conditions: tests });
  const columns = columnsOf(calls, ['date_added', 'is_extension', 'ani', ...fields]);
  const batch = new Batch(readLists(columns, '', new Numbering()), null);
  const judges = tests.map((test) =>
    compileCondition<Batch>(
      test,
      allFields,
      testedBy(() => []),
    ),
  );
  return calls.map((_, at) => {
    batch.at = at;
    return judges.map((judge) => judge(batch));
  });
}
