import type { Call } from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/fields';
import { filterCalls, through } from '@call-attribution/node-stream/operators';
import { planQuestion, selectCalls } from '@call-attribution/questions';
import { CliError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { count } from '../terminal/numbers.ts';
import { withExtensions } from './filter.ts';
import { lastOf, type Source } from './source.ts';
import { type Reading, verdictText } from './verdict.ts';

/** Refuses a condition with a mistake: it is one of the command, and not of each account. */
export function refuseMistake(where: string): void {
  planQuestion({ where });
}

/** Refuses a condition that says more than one call can tell. */
export function refuseSequence(where: string): void {
  if (!selectCalls({ where }).needsSequence) return;
  throw new UsageError('--where: what follows from the other calls of a caller needs a copy', {
    hints: ['calls sync --store sqlite:calls.db fills one; calls report reads the other calls, too'],
  });
}

/** The API with a condition that is applied to each call that is read; the API itself knows only filters. */
export function sourceWhere(source: Source, where: string, version: 'v2' | 'v3', io: Io): Source {
  const { judge } = selectCalls({ where });
  const seen = { read: 0, kept: 0 };
  const keeps = (call: Call): boolean => {
    const isKept = judge(call, '') === 'selected';
    seen.read += 1;
    if (isKept) seen.kept += 1;
    return isKept;
  };
  const read: Source['read'] = async (options) => {
    const { stream, verdict } = await source.read(options);
    return { stream: through(stream, filterCalls(keeps)), verdict };
  };
  return {
    ...source,
    async count(filter) {
      const all = withExtensions(filter, version);
      const isLeaving = all !== filter;
      const found = { website: 0, extensions: 0 };
      const { stream, verdict } = await read({ filter: all });
      for await (const call of stream) found[isCallExtension(call) ? 'extensions' : 'website'] += 1;
      await needWhole(verdict);
      const { website, extensions } = found;
      return isLeaving
        ? { total: website, source: 'read', extensions: { counted: 0, leftOut: extensions } }
        : { total: website + extensions, source: 'read', extensions: { counted: extensions, leftOut: 0 } };
    },
    async latest(filter, most) {
      const { stream, verdict } = await read({ filter });
      const last = await lastOf(stream, most);
      await needWhole(verdict);
      return { ...last, isUnordered: false };
    },
    read,
    async close() {
      if (seen.read > 0) say(io, `read ${count(seen.read)}, kept ${count(seen.kept)}`);
      await source.close();
    },
  };
}

/** A part of the calls gives no number. */
async function needWhole(verdict: Reading['verdict']): Promise<void> {
  const ending = await verdict;
  if (ending.proof !== 'whole') throw new CliError(verdictText(ending), { exitCode: exitCodes.incomplete });
}
