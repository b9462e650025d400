import type { Call, CallPage } from '@call-attribution/core';
import * as z from 'zod';
import { type Chosen, choose, selectionShape, withMirror, withoutMirror } from '../arguments/selection.ts';
import { checkOrder } from '../fields/order.ts';
import { fieldGroups, selectFields } from '../fields/select.ts';
import { type CursorScope, type Position, readCursor, writeCursor } from '../results/cursor.ts';
import { estimateTokens, makeTable } from '../results/table.ts';
import { filterOf } from '../source/api-reads.ts';
import type { Found } from '../source/source.ts';
import { fieldNotes, tableNotes } from '../text/notes.ts';
import { changedNote, incompleteSentence, listSummary, scopeSentence } from '../text/summaries.ts';
import { defineTool, readsApi, type ToolContext } from './tool.ts';

const name = 'list_calls';
const defaultRows = 25;

/** Lists calls in column form, page by page. */
export const listCalls = defineTool({
  name,
  title: 'List calls',
  description:
    'Call records, oldest first. The summary says how many match and how to get more. caller: the calls of one phone-…',
  input: z.object({
    ...selectionShape,
    caller: z.string().max(60).optional(),
    fields: z
      .array(z.string().max(60))
      .max(100)
      .optional()
      .describe(`Names or groups: ${fieldGroups.join(', ').replace('summary', 'summary (default)')}`),
    order: z.string().max(200).optional().describe('talk_minutes desc'),
    rows: z.number().int().min(1).max(500).optional().describe(`Default ${defaultRows}`),
    cursor: z.string().max(80).optional().describe('Repeat the other arguments'),
  }),
  listedOnly: { withMirror, withoutMirror },
  output: z.object({
    summary: z.string(),
    columns: z.array(z.string()),
    rows: z.array(z.array(z.any())),
    first: z.number().int(),
    last: z.number().int(),
    total: z.number().int().optional(),
    next_cursor: z.string().optional(),
    notes: z.array(z.string()),
  }),
  annotations: readsApi,
  async run(args, context) {
    const chosen = choose(args, context.version, context.today());
    checkOrder(args.order, context);
    const specs = selectFields(context.fields, context.version, args.fields);
    const scope: CursorScope = {
      tool: name,
      version: context.version,
      key: context.cursorKey,
      filter: `${chosen.text}${args.order ?? ''}`,
    };
    const position: Position =
      args.cursor === undefined
        ? { rows: args.rows ?? defaultRows, start: 0, skip: 0, total: null }
        : readCursor(scope, args.cursor, args.rows);
    const page = await (isOnePage(chosen, args.order, context) ? pageOfApi : pageOfSource)(
      chosen,
      position,
      args.order,
      context,
    );
    const records = page.records.slice(position.skip);
    const notes = [...chosen.notes, ...page.notes, ...changedNotes(position, page)];
    // The words around the table count against the same budget; the rest is a reserve for longer numbers in them.
    const words = estimateTokens(JSON.stringify([notes, fieldNotes(specs, context)])) + 250;
    const source = {
      count: records.length,
      row: (index: number, textLimit: number) => context.view(records[index] ?? {}, specs, textLimit),
    };
    const table = makeTable(specs, source, context.budget - words);
    const first = page.first + position.skip;
    const shown = table.rows.length;
    const next = nextPosition(position, page, shown);
    const cursor = next && writeCursor(scope, next);
    const total = page.total ?? undefined;
    const { found } = page;
    return {
      summary: [
        ...(found.incomplete ? [incompleteSentence(found.incomplete, name, args)] : []),
        ...(total === undefined ? [] : [scopeSentence(total, chosen.scope, found)]),
        listSummary({ shown, first, total, cursor, isLaterPage: position.start > 0 }),
      ].join(' '),
      columns: table.columns,
      rows: table.rows,
      first: shown === 0 ? 0 : first,
      last: shown === 0 ? 0 : first + shown - 1,
      ...(total === undefined ? {} : { total }),
      ...(cursor === undefined ? {} : { next_cursor: cursor }),
      notes: [...notes, ...tableNotes(table, specs, context)],
    };
  },
});

/** A page of the list, from wherever it was read. */
interface ListPage {
  readonly records: readonly Call[];
  /** Number of the first record in the whole list, from 1. */
  readonly first: number;
  readonly total: number | null;
  /** Records that the list has up to the end of this page. */
  readonly end: number;
  readonly notes: readonly string[];
  readonly found: Pick<Found, 'asOf' | 'extensionsLeftOut' | 'incomplete'>;
}

/** The API itself can give the page. */
function isOnePage({ selection }: Chosen, order: string | undefined, context: ToolContext): boolean {
  if (context.hasMirror || order !== undefined) return false;
  const { calls, where, caller, timeZone } = selection;
  if (where !== undefined || caller !== undefined || timeZone !== undefined) return false;
  return context.version === 'v2' ? calls === 'all' : calls !== 'extensions';
}

async function pageOfApi(
  { selection }: Chosen,
  position: Position,
  _order: string | undefined,
  context: ToolContext,
): Promise<ListPage> {
  const asOf = new Date(context.clock.now()).toISOString();
  const filter = filterOf(selection, context.version === 'v3' && selection.calls === 'all');
  const client = await context.client();
  const page: CallPage = await client.listCalls({
    rows: position.rows,
    page: position.start,
    signal: context.signal,
    ...(filter.clauses.length > 0 ? { filter } : {}),
  });
  const before = position.start * position.rows;
  return {
    records: page.records,
    first: page.range?.first ?? before + 1,
    total: page.range?.total ?? null,
    end: page.range?.last ?? before + page.records.length,
    notes: [],
    found: { asOf, extensionsLeftOut: selection.calls === 'all' ? 0 : null },
  };
}

async function pageOfSource(
  { selection }: Chosen,
  { start, rows }: Position,
  order: string | undefined,
  context: ToolContext,
): Promise<ListPage> {
  const source = await context.source();
  const offset = start * rows;
  const found = await source.list(
    selection,
    { offset, limit: rows, ...(order === undefined ? {} : { order }) },
    context,
  );
  const { calls, total, notes } = found;
  return { records: calls, first: offset + 1, total, end: offset + calls.length, notes, found };
}

/** Where the next page begins: in the same page of the list when the budget cut it, else in the next one. */
function nextPosition(position: Position, page: ListPage, shown: number): Position | undefined {
  const { total } = page;
  const rest = page.records.length - position.skip - shown;
  if (rest > 0) return { ...position, skip: position.skip + shown, total };
  // Without a total, a short first page may be the end, or all that the server sends at once.
  const isFull = position.start === 0 || page.records.length >= position.rows;
  const more = total === null ? isFull : page.end < total;
  if (!more || page.records.length === 0) return undefined;
  // A server that sends fewer rows than requested counts its pages in that size from now on.
  const rows = position.start === 0 ? page.records.length : position.rows;
  return { rows, start: position.start + 1, skip: 0, total };
}

function changedNotes(position: Position, { total }: ListPage): string[] {
  if (position.total === null || total === null || position.total === total) return [];
  return [changedNote(position.total, total)];
}
