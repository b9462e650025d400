import type { Call, CallPage } from '@call-attribution/core';
import * as z from 'zod';
import { chooseFilter, filterShape } from '../arguments/filter.ts';
import { selectFields } from '../fields/select.ts';
import { type CursorScope, type Place, readCursor, writeCursor } from '../results/cursor.ts';
import { fieldNotes, tableNotes } from '../results/notes.ts';
import { makeTable } from '../results/table.ts';
import { estimateTokens } from '../results/tokens.ts';
import { count, counted } from '../results/words.ts';
import { defineTool, readsService } from './tool.ts';

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
      .describe(
        'Names or groups: summary (default), timing, caller, attribution, ads, device, custom, system, all',
      ),
    rows: z.number().int().min(1).max(500).optional().describe(`Default ${defaultRows}`),
    cursor: z.string().max(80).optional().describe('From the page before; repeat its arguments'),
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
  annotations: readsService,
  async run(args, context) {
    const chosen = chooseFilter(args, context.version);
    const specs = selectFields(context.fields, context.version, args.fields);
    const scope: CursorScope = { tool: name, version: context.version, filter: chosen.text };
    const place: Place =
      args.cursor === undefined
        ? { rows: args.rows ?? defaultRows, start: 0, skip: 0, total: null }
        : readCursor(scope, args.cursor, args.rows);
    const client = await context.client();
    const page = await client.listCalls({
      rows: place.rows,
      start: place.start,
      signal: context.signal,
      ...(chosen.filter ? { filter: chosen.filter } : {}),
    });
    const records = page.records.slice(place.skip);
    const said = [...chosen.notes, ...changed(place, page)];
    // The words around the table are paid from the same budget; the rest is left for longer numbers in them.
    const words = estimateTokens(JSON.stringify([chosen.text, said, fieldNotes(specs, context)])) + 150;
    const source = {
      count: records.length,
      row: (index: number, textLimit: number) => context.view(records[index] as Call, specs, textLimit),
    };
    const table = makeTable(specs, source, context.budget - words);
    const first = (page.range?.first ?? place.start * place.rows + 1) + place.skip;
    const shown = table.rows.length;
    const next = nextPlace(place, page, shown);
    const cursor = next && writeCursor(scope, next);
    const total = page.range?.total ?? undefined;
    return {
      summary: sentence(shown, first, total, cursor, place.start > 0),
      filter: chosen.text,
      columns: table.columns,
      rows: table.rows,
      first: shown === 0 ? 0 : first,
      last: shown === 0 ? 0 : first + shown - 1,
      ...(total === undefined ? {} : { total }),
      ...(cursor === undefined ? {} : { next_cursor: cursor }),
      notes: [...said, ...tableNotes(table, specs, context)],
    };
  },
});

function sentence(
  shown: number,
  first: number,
  total: number | undefined,
  cursor: string | undefined,
  isLater: boolean,
): string {
  if (shown === 0) {
    if (total === undefined && isLater) return 'No further rows: the page before was the last.';
    return total === undefined || total === 0
      ? 'No call matches. A wider from/to may.'
      : `No row here: the list has ${counted(total, 'call', 'calls')} and ends before this page.`;
  }
  const of = total === undefined ? 'an unknown number of calls' : counted(total, 'call', 'calls');
  const rows = `Rows ${count(first)}-${count(first + shown - 1)} of ${of}`;
  if (cursor === undefined) return `${rows}; these are the last.`;
  return total === undefined
    ? `${rows}; there may be more with cursor=${cursor}`
    : `${rows}; more with cursor=${cursor}`;
}

/** Where the next page begins: in the same API page when the budget cut it, else in the next one. */
function nextPlace(place: Place, page: CallPage, shown: number): Place | undefined {
  const total = page.range?.total ?? null;
  const rest = page.records.length - place.skip - shown;
  if (rest > 0) return { ...place, skip: place.skip + shown, total };
  const last = page.range?.last ?? place.start * place.rows + page.records.length;
  // Without a total, a first page that is shorter than asked may be the end, or all that the server gives at once.
  const isFull = place.start === 0 || page.records.length >= place.rows;
  const more = total === null ? isFull : last < total;
  if (!more || page.records.length === 0) return undefined;
  // A server that gives fewer rows than asked counts its pages in that size from now on.
  const rows = place.start === 0 ? page.records.length : place.rows;
  return { rows, start: place.start + 1, skip: 0, total };
}

function changed(place: Place, page: CallPage): string[] {
  const total = page.range?.total ?? null;
  if (place.total === null || total === null || place.total === total) return [];
  return [
    `The list changed while paging (${count(place.total)} calls before, ${count(total)} now): rows may repeat or be missed. Start again for an exact list.`,
  ];
}
