import type { Call } from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/fields';
import type { Settings } from '@call-attribution/mcp-server/settings';
import { filterCalls, through } from '@call-attribution/node-stream/operators';
import { selectCalls } from '@call-attribution/questions';
import { UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { count } from '../term/numbers.ts';
import { leavesExtensions, withExtensions } from './filter.ts';
import type { Match, Source } from './source.ts';

/** Refuses a condition that says more than one call can tell. */
export function refuseSequence(where: string): void {
  if (!selectCalls({ where }).needsSequence) return;
  throw new UsageError('--where: what follows from the other calls of a caller needs a copy', {
    hints: ['calls sync --store sqlite:calls.db fills one; calls report reads the other calls, too'],
  });
}

/** The API with a condition that is applied to each call that is read; the API itself knows only filters. */
export function sourceWhere(source: Source, where: string, { apiVersion }: Settings, io: Io): Source {
  const { judge } = selectCalls({ where });
  const seen = { read: 0, kept: 0 };
  const keeps = (call: Call): boolean => {
    const isKept = judge(call, '') === 'selected';
    seen.read += 1;
    if (isKept) seen.kept += 1;
    return isKept;
  };
  const every = { limit: Number.POSITIVE_INFINITY, skip: 0, end: 'first' } as const;
  return {
    address: source.address,
    get: (sid) => source.get(sid),
    async count(filter) {
      const isLeaving = leavesExtensions(filter, apiVersion.value);
      const found = { website: 0, extensions: 0 };
      for await (const { call } of source.list({
        ...every,
        filter: isLeaving ? withExtensions(filter) : filter,
      }))
        if (keeps(call)) found[isCallExtension(call) ? 'extensions' : 'website'] += 1;
      const { website, extensions } = found;
      return isLeaving
        ? { total: website, source: 'read', extensions: { counted: 0, leftOut: extensions } }
        : { total: website + extensions, source: 'read', extensions: { counted: extensions, leftOut: 0 } };
    },
    async *list({ filter, limit, skip, end }) {
      if (limit === Number.POSITIVE_INFINITY) {
        for await (const match of source.list({ ...every, filter })) if (keeps(match.call)) yield match;
        return;
      }
      const most = skip + limit;
      let matches: Match[] = [];
      for await (const match of source.list({ ...every, filter })) {
        if (!keeps(match.call) || (end === 'first' && matches.length >= most)) continue;
        matches.push(match);
        if (end === 'latest' && matches.length > 2 * most) matches = matches.slice(-most);
      }
      const last = Math.max(0, matches.length - skip);
      const left = end === 'latest' ? matches.slice(Math.max(0, last - limit), last) : matches.slice(skip);
      for (const { call } of left) yield { call, total: seen.kept };
    },
    read(options) {
      const { stream, verdict } = source.read(options);
      return { stream: through(stream, filterCalls(keeps)), verdict };
    },
    async close() {
      if (seen.read > 0) say(io, `read ${count(seen.read)}, kept ${count(seen.kept)}`);
      await source.close();
    },
  };
}
