import type { Call } from '@call-attribution/core';
import type { Filter } from '@call-attribution/query-dsl';
import type { Args, Handler } from '../args/command.ts';
import { exitCodes } from '../exit-codes.ts';
import { say } from '../io.ts';
import { type RowFormat, rowFormats, targetOf } from '../output/target.ts';
import { chooseAccounts } from '../reading/accounts.ts';
import { contextOf } from '../reading/connect.ts';
import { eachAccount, planEach, ready } from '../reading/each-account.ts';
import { readFields } from '../reading/fields.ts';
import { extensionsNote, filterOf, leavesExtensions, rangeOf } from '../reading/filter.ts';
import { sayPeriod } from '../reading/period.ts';
import type { Match, Source } from '../reading/source.ts';
import { count as figure, plural } from '../term/numbers.ts';
import { listOutput } from './list-output.ts';

/** Which of the calls that match are shown. */
interface Place {
  readonly end: 'first' | 'latest';
  /** Infinite for all. */
  readonly limit: number;
  readonly page: number;
  /** Calls before the page. */
  readonly skip: number;
  readonly sort: 'newest' | 'oldest';
}

function placeOf(args: Args): Place {
  const isAll = args.flag('all');
  const sort = (['newest', 'oldest'] as const).find((order) => order === args.text('sort'));
  const page = args.integer('page') ?? 0;
  const most = args.integer('limit', { min: 1 }) ?? 20;
  return {
    end: isAll || sort === 'oldest' ? 'first' : 'latest',
    limit: isAll ? Number.POSITIVE_INFINITY : most,
    page,
    skip: page * most,
    sort: sort ?? (isAll ? 'oldest' : 'newest'),
  };
}

/** `calls list`: the calls that match, as a table for people or as data for programs. */
export const list: Handler = async (args, io) => {
  const { format, output: file } = targetOf(args, rowFormats);
  const place = placeOf(args);
  const fields = readFields(args);
  const accounts = await planEach(await chooseAccounts(args, io), ({ settings }) => {
    const context = contextOf(settings, io);
    sayPeriod(rangeOf(args, context), context, io);
    return filterOf(args, context);
  });
  const versions = accounts.map(({ settings }) => settings.apiVersion.value);
  const several = accounts.some(({ name }) => name !== null);
  const output = listOutput({ format, fields, versions, several }, io);
  const notes: string[] = [];
  const incomplete = new Set<string>();
  let isAnyShown = false;
  const status = await eachAccount(accounts, args, io, async ({ name, plan: filter, open }) => {
    const source = await open();
    try {
      const { end, limit, skip } = place;
      const seen: Seen = { shown: 0, total: null, isUnordered: false };
      const matches = source.list({
        filter,
        end,
        limit,
        skip,
        onUnordered: () => {
          seen.isUnordered = true;
        },
      });
      for await (const call of inOrder(counted(matches, seen), place)) await output.add(call, name);
      isAnyShown ||= seen.shown > 0;
      for (const line of source.incomplete ?? []) incomplete.add(line);
      const lines =
        seen.shown > 0 ? placeNotes(place, seen, format) : await emptyNotes(place, source, filter, format);
      notes.push(...lines.map((line) => (name === null ? line : `${name}: ${line}`)));
      return exitCodes.ok;
    } finally {
      await source.close();
    }
  });
  const dropped = await output.close(file === null ? [] : [...incomplete]);
  for (const note of notes) say(io, note);
  if (dropped.length > 0) say(io, `not enough width for ${dropped.join(', ')}; choose fields with --fields`);
  const leaving = ready(accounts).find(({ plan, settings }) =>
    leavesExtensions(plan, settings.apiVersion.value),
  );
  if (format === 'table' && isAnyShown && leaving) say(io, extensionsNote);
  return status;
};

/** Why there is nothing to show. */
async function emptyNotes(
  { page, limit }: Place,
  source: Source,
  filter: Filter,
  format: RowFormat,
): Promise<string[]> {
  const total = page > 0 ? (await source.count(filter)).total : 0;
  if (total > 0) {
    const last = Math.ceil(total / limit) - 1;
    return [`page ${page} is empty: ${plural(total, 'call')} match; --page ${last} is the last one`];
  }
  return format === 'table' ? ['no calls match'] : [];
}

/** What was read of the calls that match. */
interface Seen {
  shown: number;
  /** How many match; null when the source does not say. */
  total: number | null;
  isUnordered: boolean;
}

async function* counted(matches: AsyncIterable<Match>, seen: Seen): AsyncGenerator<Call> {
  for await (const { call, total } of matches) {
    seen.shown += 1;
    seen.total = total;
    yield call;
  }
}

/** Streams all calls in the order of the source, which is the order of time; everything else is sorted first. */
async function* inOrder(calls: AsyncIterable<Call>, { limit, sort }: Place): AsyncGenerator<Call> {
  if (sort === 'oldest' && limit === Number.POSITIVE_INFINITY) {
    yield* calls;
    return;
  }
  const all: Call[] = [];
  for await (const call of calls) all.push(call);
  // Calls of the same second stay in the order of the source, or in its reverse.
  all.sort((a, b) => Number(a.date_added > b.date_added) - Number(a.date_added < b.date_added));
  yield* sort === 'newest' ? all.reverse() : all;
}

/** Which calls these are, and what was left out. */
function placeNotes({ end, page, skip }: Place, seen: Seen, format: RowFormat): string[] {
  const { shown, total, isUnordered } = seen;
  const isWhole = total === null || skip + shown >= total;
  if (format !== 'table' && isWhole && page === 0) return [];
  const numbers = `${figure(skip + 1)} to ${figure(skip + shown)}`;
  const of = total === null ? '' : ` of ${figure(total)}`;
  let which = `${numbers}${of}`;
  if (end !== 'first' && total !== null) {
    if (page > 0) which += ', counted from the latest';
    else which = isWhole ? 'all that match' : `the latest${of}`;
  }
  const next = `--page ${page + 1} shows ${end === 'first' ? 'the next page' : 'earlier calls'}, --all shows all calls`;
  return [
    `${plural(shown, 'call')}: ${which}`,
    ...(isUnordered
      ? [
          'the server does not list calls in the order of time, so later ones may be missing; narrow the time with --from',
        ]
      : []),
    ...(isWhole ? [] : [next]),
  ];
}
