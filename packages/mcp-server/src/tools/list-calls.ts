import type { FieldSpec } from '@call-attribution/core';
import * as z from 'zod';
import { choose, selectionShape } from '../arguments/selection.ts';
import { fieldGroups, selectFields } from '../fields/select.ts';
import { showRecord } from '../fields/view.ts';
import { type CursorScope, type Position, readCursor, writeCursor } from '../results/cursor.ts';
import { estimateTokens, makeTable } from '../results/table.ts';
import type { Found, Listed, ListKey } from '../source/source.ts';
import { fieldNotes, tableNotes } from '../text/notes.ts';
import { changedNote, listSummary, scopeSentence, unfinishedSentence } from '../text/summaries.ts';
import { explainZero } from './explain-zero.ts';
import { goOn, keepBegun, resumed } from './resume.ts';
import { folderFor, rowsMissing, rowsOfFile, toFileShape, writeRows } from './to-file.ts';
import { defineTool, readsApi } from './tool.ts';

const name = 'list_calls';
const defaultRows = 25;

const input = z.object({
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
  ...toFileShape,
});

const nothing = { columns: [], rows: [], first: 0, last: 0, notes: [] };

/** Far from the beginning of a list, a cursor knows the call before. */
type Given = z.infer<typeof input> & { readonly after?: ListKey };

/** Lists calls in column form, page by page. */
export const listCalls = defineTool({
  name,
  title: 'List calls',
  description:
    'Call records, oldest first. The summary says how many match and how to get more. caller: the calls of one phone-…',
  input,
  output: z.object({
    summary: z.string(),
    columns: z.array(z.string()),
    rows: z.array(z.array(z.any())),
    first: z.number().int(),
    last: z.number().int(),
    total: z.number().int().optional(),
    next_cursor: z.string().optional(),
    go_on: z.string().optional(),
    notes: z.array(z.string()),
  }),
  annotations: readsApi,
  async run(given, called) {
    const { args, saved, context } = resumed<Given>(name, given, called);
    const chosen = choose(args, context);
    const specs = selectFields(context.fields, context.version, args.fields);
    const scope: CursorScope = {
      tool: name,
      version: context.version,
      key: context.cursorKey,
      filter: `${chosen.text}${args.order ?? ''}`,
    };
    const folder = folderFor(args, context);
    const position = folder === null ? positionOf(scope, args) : { ...start, rows: rowsOfFile };
    const cursorOf = (next: Position, after: ListKey | undefined): string => {
      if (after === undefined) return writeCursor(scope, next);
      const rest = { ...args, cursor: undefined, rows: position.rows, after };
      return keepBegun({ tool: name, args: rest, saved: undefined }, context);
    };
    const source = await context.source();
    const list = (at: Position, from?: unknown): Promise<Found> => {
      const part = { offset: at.start * at.rows, limit: at.rows, order: args.order, after: args.after };
      return source.list(chosen.selection, part, { ...context, saved: from });
    };
    const page = await list(position, saved);
    const more = goOn(name, args, page, context);
    if (more && !more.hasNumbers)
      return { ...nothing, complete: false, summary: more.sentence, go_on: more.cursor };
    if (folder !== null) {
      const calls = await allCalls(page, position, list);
      const shown = { specs, notes: [], hasAccounts: source.accounts.length > 1 };
      const table = tableOf({ ...page, calls }, 0, shown, { ...context, budget: Number.POSITIVE_INFINITY });
      return { ...nothing, ...(await writeRows(name, folder, table)) };
    }
    const zero = page.total === 0 ? await explainZero(chosen, page, source, context) : [];
    const notes = [...chosen.notes, ...zero, ...page.notes, ...changedNotes(position, page)];
    const table = tableOf(
      page,
      position.skip,
      { specs, notes, hasAccounts: source.accounts.length > 1 },
      context,
    );
    const first = page.first + position.skip;
    const shown = table.rows.length;
    const next = nextPosition(position, page, shown);
    const cursor = next && cursorOf(next, page.keyAt?.(position.skip + shown - 1));
    const total = page.total ?? undefined;
    return {
      summary: [
        ...(more ? [more.sentence] : []),
        ...(total === undefined ? [] : [scopeSentence(total, chosen.scope, page)]),
        listSummary({
          shown,
          first,
          total,
          cursor,
          isLaterPage: position.start > 0 || args.after !== undefined,
        }),
      ].join(' '),
      columns: table.columns,
      rows: table.rows,
      first: shown === 0 ? 0 : first,
      last: shown === 0 ? 0 : first + shown - 1,
      ...(total === undefined ? {} : { total }),
      ...(cursor === undefined ? {} : { next_cursor: cursor }),
      ...(more ? { complete: false } : {}),
      notes: [...notes, ...tableNotes(table, specs, context)],
    };
  },
});

const start: Position = { rows: defaultRows, start: 0, skip: 0, total: null };

const positionOf = (
  scope: CursorScope,
  { cursor, rows }: { readonly cursor?: string | undefined; readonly rows?: number | undefined },
): Position =>
  cursor === undefined ? { ...start, rows: rows ?? defaultRows } : readCursor(scope, cursor, rows);

/** All calls of a list, as many as a file has. Without an order the API gives them in its own pages. */
async function allCalls(
  first: Found,
  position: Position,
  list: (at: Position) => Promise<Found>,
): Promise<readonly Listed[]> {
  const calls: Listed[] = [];
  let at: Position | undefined = position;
  for (let page = first; ; page = await list(at)) {
    const { unfinished, notes } = page;
    if (unfinished !== undefined)
      throw rowsMissing(name, [unfinishedSentence(unfinished, name, undefined), ...notes]);
    calls.push(...page.calls);
    at = nextPosition(at, page, page.calls.length);
    if (at === undefined || calls.length >= rowsOfFile) return calls.slice(0, rowsOfFile);
  }
}

/** The rows of a page that fit into the budget, after those that an answer has shown already. */
function tableOf(
  page: Found,
  skip: number,
  shown: {
    readonly specs: readonly FieldSpec[];
    readonly notes: readonly string[];
    readonly hasAccounts: boolean;
  },
  context: Parameters<typeof fieldNotes>[1] & { readonly budget: number },
): ReturnType<typeof makeTable> {
  const { specs, notes, hasAccounts } = shown;
  const calls = page.calls.slice(skip);
  // The words around the table count against the same budget; the rest is a reserve for longer numbers in them.
  const words = estimateTokens(JSON.stringify([notes, fieldNotes(specs, context)])) + 250;
  const row = (index: number, textLimit: number) => {
    const { account, call } = calls[index] ?? {};
    const cells = call === undefined ? [] : showRecord(call, specs, textLimit);
    return hasAccounts ? [account ?? null, ...cells] : cells;
  };
  const names = specs.map((spec) => spec.name);
  return makeTable(
    hasAccounts ? ['account', ...names] : names,
    { count: calls.length, row },
    context.budget - words,
  );
}

/** Where the next page begins: in the same page of the list when the budget cut it, else in the next one. */
function nextPosition(
  position: Position,
  { calls, first, total }: Found,
  shown: number,
): Position | undefined {
  const rest = calls.length - position.skip - shown;
  if (rest > 0) return { ...position, skip: position.skip + shown, total };
  // Without a total, a short first page may be the end, or all that the server sends at once.
  const isFull = position.start === 0 || calls.length >= position.rows;
  const more = total === null ? isFull : first - 1 + calls.length < total;
  if (!more || calls.length === 0) return undefined;
  // A server that sends fewer rows than requested counts its pages in that size from now on.
  const rows = position.start === 0 ? calls.length : position.rows;
  return { rows, start: position.start + 1, skip: 0, total };
}

function changedNotes(position: Position, { total }: Found): string[] {
  if (position.total === null || total === null || position.total === total) return [];
  return [changedNote(position.total, total)];
}
