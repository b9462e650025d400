import { day, formatNaive, instantOf, naiveAt, parseNaive } from '@call-attribution/core/time';
import type { Clause } from '@call-attribution/query-dsl';
import { filterOf } from '../source/api-reads.ts';
import type { CallKind, Selection } from '../source/source.ts';
import type { ToolContext } from './tool.ts';

/** Another way to count, which may be the one that another number comes from. */
export interface Explanation {
  readonly what: string;
  readonly selection: Selection;
  /** Counts with a request of its own; null when it fails. */
  readonly overApi?: () => Promise<number | null>;
}

const kinds: Readonly<Record<CallKind, string>> = {
  website: 'website calls only, without call extensions (the usual count of the API v3)',
  extensions: 'calls through call extensions only',
  all: 'all calls, call extensions included (as v2 of the API counts)',
};

/** The usual reasons for another number, each as a count. */
export function explanations(selection: Selection, context: ToolContext): Explanation[] {
  const list: Explanation[] = (['website', 'extensions', 'all'] as const)
    .filter((kind) => kind !== selection.calls)
    .map((kind) => ({ what: kinds[kind], selection: { ...selection, calls: kind } }));
  const answered: Clause = {
    kind: 'range',
    field: 'talk_minutes',
    lower: { text: '0', inclusive: false },
    upper: null,
  };
  if (selection.clauses.length === 0)
    list.push({ what: 'answered calls only', selection: { ...selection, clauses: [answered] } });
  const { from, to } = selection;
  if (from !== null && to?.endsWith(' 00:00:00')) {
    const last = formatNaive(parseNaive(to) - day);
    if (last > from)
      list.push({ what: 'the period without its last day', selection: { ...selection, to: last } });
  }
  list.push(...inOtherZones(selection, context));
  if (context.hasMirror && selection.where === undefined && selection.caller === undefined)
    list.push({
      what: 'the API at this moment (a sync may be due)',
      selection,
      overApi: () => countOverApi(selection, context),
    });
  return list;
}

/** The same days in UTC, when the account's times are in another zone. */
function inOtherZones(selection: Selection, { timeZone }: ToolContext): Explanation[] {
  if (timeZone === undefined || timeZone === 'UTC' || selection.timeZone !== undefined) return [];
  const inUtc = (time: string | null): string | null =>
    time === null ? null : formatNaive(naiveAt(parseNaive(time), timeZone));
  const fromUtc = (time: string | null): string | null =>
    time === null ? null : formatNaive(instantOf(parseNaive(time), timeZone).epochMs);
  return [
    {
      what: 'the same days in UTC',
      selection: { ...selection, from: inUtc(selection.from), to: inUtc(selection.to) },
    },
    {
      what: `the same days in ${timeZone}, if the times sent were in UTC`,
      selection: { ...selection, from: fromUtc(selection.from), to: fromUtc(selection.to) },
    },
  ];
}

async function countOverApi(selection: Selection, context: ToolContext): Promise<number | null> {
  const client = await context.client();
  const countOf = async (isAll: boolean): Promise<number> => {
    const filter = filterOf(selection, isAll && context.version === 'v3');
    return (
      await client.countCalls({ signal: context.signal, ...(filter.clauses.length > 0 ? { filter } : {}) })
    ).total;
  };
  try {
    if (selection.calls === 'extensions') return (await countOf(true)) - (await countOf(false));
    return await countOf(selection.calls === 'all');
  } catch {
    context.signal.throwIfAborted();
    return null;
  }
}
