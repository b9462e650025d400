import type { Call } from '@call-attribution/core';
import { filterCalls, through } from '@call-attribution/node-stream/operators';
import {
  createAnswers,
  excludedSentence,
  isOfCondition,
  planCalls,
  planQuestion,
  selectCalls,
} from '@call-attribution/questions';
import { CliError, exitCodes, UsageError } from '../errors.ts';
import { count } from '../terminal/numbers.ts';
import type { AccountNames } from './account-names.ts';
import type { ChosenCalls } from './chosen-calls.ts';
import { lastOf, monthsOfReads, type Source } from './source.ts';
import type { ReadResult } from './verdict.ts';

/**
 * Refuses a condition with a mistake; of the API, also one that says more than one call can tell.
 */
export function checkWhere(calls: ChosenCalls, isOfCopy: boolean): void {
  if (planCalls(calls).otherCalls === 'none' || isOfCopy) return;
  throw new UsageError('--where: what follows from the other calls of a caller needs a copy', [
    'calls sync --store sqlite:calls.db fills one; calls report reads the other calls, too',
  ]);
}

/**
 * The API with a condition that is applied to each call of an account that is read; the API itself
 * knows only filters. It says what an answer to the same question says of the condition: what the
 * fields hold where no call meets it, and which calls a negation leaves out.
 */
export function sourceWhere(
  source: Source,
  calls: ChosenCalls,
  {
    key,
    namesOf,
    version,
  }: { readonly key: string; readonly namesOf: AccountNames; readonly version: 'v2' | 'v3' },
): Source {
  const { judge } = selectCalls(planCalls(calls, { version }), { namesOf });
  const answers = createAnswers([planQuestion(calls)], { namesOf });
  const seen = { read: 0, kept: 0, excluded: 0 };

  const keeps = (call: Call): boolean => {
    const judged = judge(call, key);
    const isKept = judged === 'selected';
    seen.read += 1;
    if (isKept) seen.kept += 1;
    if (judged === 'excluded') seen.excluded += 1;
    answers.add(call, key);
    return isKept;
  };

  /** The end of a reading, with how many calls met the condition. */
  const explained = (result: ReadResult, isOfAll: boolean): ReadResult => {
    const said = [...result.said];
    if (isOfAll && result.isWhole) {
      const notes = (answers.answers()[0]?.notes ?? []).filter(isOfCondition);
      said.unshift(...notes.map(({ message }) => message));
    }

    const { where, exclude } = calls;
    if (seen.read > 0 && where !== undefined)
      said.push(
        `${count(seen.kept)} of the ${count(seen.read)} calls that were read fulfill --where`,
      );
    if (exclude !== undefined && seen.excluded > 0)
      said.push(excludedSentence(exclude, seen.excluded));
    return { ...result, said };
  };

  const read: Source['read'] = async ({ check, ...options }) => {
    const { stream, result, ...remarks } = await source.read({
      ...options,
      check(call) {
        if (judge(call, key) === 'selected') check?.(call);
      },
    });

    // Calls that an earlier run has written may have met it.
    const isOfAll = (options.checkpoint ?? null) === null;
    return {
      ...remarks,
      stream: through(stream, filterCalls(keeps)),
      result: result.then((each) => explained(each, isOfAll)),
    };
  };

  const latest: Source['latest'] = async (filter, most) => {
    const { stream, result } = await read({ filter });
    const last = await lastOf(stream, most);
    const { isWhole, text, said, lacks } = await result;

    // A part of the calls gives no number.
    if (!isWhole) throw new CliError(text, { exitCode: exitCodes.incomplete });
    return { ...last, isUnordered: false, said, lacks };
  };

  return {
    ...source,
    latest,
    read,
    async count(filter) {
      const { total, said, lacks } = await latest(filter, 1);
      return { total, source: 'read', said, lacks };
    },
    async months(options) {
      const months = monthsOfReads(read, options, () => source.about());
      const result: typeof months.result = async (calls, verdicts) =>
        explained(await months.result(calls, verdicts), true);
      return { ...months, result };
    },
  };
}
