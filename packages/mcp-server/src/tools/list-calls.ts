import type { Call, CallPage } from '@call-attribution/core';
import * as z from 'zod';
import { chooseFilter, filterShape } from '../arguments/filter.ts';
import { fieldGroups, selectFields } from '../fields/select.ts';
import { type CursorScope, type Position, readCursor, writeCursor } from '../results/cursor.ts';
import { estimateTokens, makeTable } from '../results/table.ts';
import { fieldNotes, tableNotes } from '../text/notes.ts';
import { changedNote, listSummary } from '../text/summaries.ts';
import { defineTool, readsApi } from './tool.ts';

const name = 'list_calls';
const defaultRows = 25;

/** Lists calls in column form, page by page. */
export const listCalls = defineTool({
  name,
  title: 'List calls',
  description:
    'Call records as columns and rows. Give from/to. The summary says how many match and how to get more.',
  input: z.object({
    ...filterShape,
    fields: z
      .array(z.string().max(60))
      .max(100)
      .optional()
      .describe(`Names or groups: ${fieldGroups.join(', ').replace('summary', 'summary (default)')}`),
    rows: z.number().int().min(1).max(500).optional().describe(`Default ${defaultRows}`),
    cursor: z.string().max(80).optional().describe('From the previous page; repeat its arguments'),
  }),
  output: z.object({
    summary: z.string(),
    filter: z.string(),
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
    const chosen = chooseFilter(args, context.version);
    const specs = selectFields(context.fields, context.version, args.fields);
    const scope: CursorScope = { tool: name, version: context.version, filter: chosen.text };
    const position: Position =
      args.cursor === undefined
        ? { rows: args.rows ?? defaultRows, start: 0, skip: 0, total: null }
        : readCursor(scope, args.cursor, args.rows);
    const client = await context.client();
    const page = await client.listCalls({
      rows: position.rows,
      page: position.start,
      signal: context.signal,
      ...(chosen.filter ? { filter: chosen.filter } : {}),
    });
    const records = page.records.slice(position.skip);
    const notes = [...chosen.notes, ...changedNotes(position, page)];
    // The words around the table count against the same budget; the rest is a reserve for longer numbers in them.
    const words = estimateTokens(JSON.stringify([chosen.text, notes, fieldNotes(specs, context)])) + 150;
    const source = {
      count: records.length,
      row: (index: number, textLimit: number) => context.view(records[index] as Call, specs, textLimit),
    };
    const table = makeTable(specs, source, context.budget - words);
    const first = (page.range?.first ?? position.start * position.rows + 1) + position.skip;
    const shown = table.rows.length;
    const next = nextPosition(position, page, shown);
    const cursor = next && writeCursor(scope, next);
    const total = page.range?.total ?? undefined;
    return {
      summary: listSummary({ shown, first, total, cursor, isLaterPage: position.start > 0 }),
      filter: chosen.text,
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

/** Where the next page begins: in the same API page when the budget cut it, else in the next one. */
function nextPosition(position: Position, page: CallPage, shown: number): Position | undefined {
  const total = page.range?.total ?? null;
  const rest = page.records.length - position.skip - shown;
  if (rest > 0) return { ...position, skip: position.skip + shown, total };
  const last = page.range?.last ?? position.start * position.rows + page.records.length;
  // Without a total, a short first page may be the end, or all that the server sends at once.
  const isFull = position.start === 0 || page.records.length >= position.rows;
  const more = total === null ? isFull : last < total;
  if (!more || page.records.length === 0) return undefined;
  // A server that sends fewer rows than requested counts its pages in that size from now on.
  const rows = position.start === 0 ? page.records.length : position.rows;
  return { rows, start: position.start + 1, skip: 0, total };
}

function changedNotes(position: Position, page: CallPage): string[] {
  const total = page.range?.total ?? null;
  if (position.total === null || total === null || position.total === total) return [];
  return [changedNote(position.total, total)];
}
