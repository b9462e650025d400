import { excludedSentence, negationSentence } from '@call-attribution/questions';
import { formatCount, formatCounted } from '@call-attribution/questions/chart';
import * as z from 'zod';
import { fieldGroups, selectFields, showRecord } from '../fields.ts';
import { fieldNotes, scopeSentence, tableNotes, withoutSentence } from '../text/words.ts';
import { choose, selectionShape } from './arguments.ts';
import { explainZero } from './explain-zero.ts';
import { rowsMissing, rowsOfFile, writeRows } from './save-csv.ts';
import { estimateTokens, makeTable, readCursor, writeCursor } from './table.ts';
import { tableOutput, tool } from './tool.ts';

const name = 'list_calls';
const defaultRows = 25;

/** Lists calls in column form, page by page. */
export const listCalls = tool({
  name,
  title: 'List calls',
  description:
    'Call records, newest first. The summary says how many match and how to get more. caller: the calls of one phone-…',
  input: z
    .object({
      ...selectionShape,
      caller: z.string().max(60),
      fields: z
        .array(z.string().max(60))
        .max(100)
        .describe(
          `Names or groups: ${fieldGroups.join(', ').replace('summary', 'summary (default)')}`,
        ),
      order: z.string().max(200).describe('talk_minutes desc'),
      rows: z.number().int().min(1).max(500).describe(`Default ${defaultRows}`),
      cursor: z.string().max(80).describe('Repeat the other arguments'),
    })
    .partial(),
  output: z
    .object({
      ...tableOutput,
      first: z.number().int(),
      last: z.number().int(),
      total: z.number().int(),
      next_cursor: z.string(),
    })
    .partial(),
  answers: 'Single calls',
  async run(args, context) {
    const { source, budget, folder } = context;
    const chosen = choose(args, context);
    const specs = selectFields(context.fields, context.version, args.fields);
    const of = [name, chosen.text, args.order];
    const position = readCursor(of, folder === null ? args.cursor : undefined);
    const { offset } = position;
    const limit = folder === null ? (args.rows ?? defaultRows) : rowsOfFile;
    const page = await source.list(chosen.selection, { order: args.order, offset, limit }, context);
    const total = page.total ?? undefined;
    const isCounted = total !== undefined && offset === 0;
    const isNegated = page.negated.length > 0;
    let ofCondition: readonly string[] = [];
    if (isCounted && chosen.scope.isNarrowed && (total === 0 || isNegated))
      ofCondition = (await source.count(chosen.selection, context)).notes;
    else if (isNegated && total === undefined) ofCondition = [negationSentence(page.negated)];
    const zero = total === 0 ? await explainZero(chosen, page, context) : [];
    const isChanged = position.total !== null && total !== undefined && position.total !== total;
    const { exclude } = chosen.selection;
    const { excluded } = page;
    const notes = [
      ...chosen.notes,
      ...new Set([
        ...(exclude !== undefined && excluded ? [excludedSentence(exclude, excluded)] : []),
        ...ofCondition,
        ...zero,
        ...page.notes,
      ]),
      ...(isChanged ? [changedNote(position.total ?? 0, total)] : []),
    ];
    const hasAccounts = source.accounts.length > 1;
    const names = specs.map((spec) => spec.name);

    // The words around the table count against the same budget; the rest is a reserve for longer
    // numbers in them.
    const words = estimateTokens(JSON.stringify([notes, fieldNotes(specs, context)])) + 250;
    const table = makeTable(
      hasAccounts ? ['account', ...names] : names,
      {
        count: page.calls.length,
        row(index, textLimit) {
          const { account, call } = page.calls[index] ?? {};
          const cells = call === undefined ? [] : showRecord(call, specs, textLimit);
          return hasAccounts ? [account ?? null, ...cells] : cells;
        },
      },
      folder === null ? budget - words : Number.POSITIVE_INFINITY,
    );
    if (folder !== null) {
      if (page.without.length > 0)
        throw rowsMissing(name, [withoutSentence(page.without), ...page.notes]);
      return writeRows(name, folder, table, notes);
    }

    const shown = table.rows.length;
    const isMore = shown < page.calls.length || total === undefined || offset + shown < total;
    const cursor =
      isMore && shown > 0
        ? writeCursor(of, { offset: offset + shown, total: page.total })
        : undefined;
    return {
      summary: [
        withoutSentence(page.without),
        ...(total === undefined ? [] : [scopeSentence(total, chosen.scope, page)]),
        listSummary(shown, offset + 1, total, cursor),
      ]
        .filter((text) => text !== '')
        .join(' '),
      columns: table.columns,
      rows: table.rows,
      first: shown === 0 ? 0 : offset + 1,
      last: shown === 0 ? 0 : offset + shown,
      ...(total === undefined ? {} : { total }),
      ...(cursor === undefined ? {} : { next_cursor: cursor }),
      ...(page.without.length > 0 ? { complete: false } : {}),
      notes: [...notes, ...tableNotes(table, specs, context)],
    };
  },
});

/**
 * Says which rows of how many a page has, and how to get more. `first`: the number of the first row
 * in the whole list, from 1.
 */
function listSummary(
  shown: number,
  first: number,
  total: number | undefined,
  cursor: string | undefined,
): string {
  if (shown === 0) {
    return total === undefined || total === 0
      ? 'No calls match.'
      : `No rows here: the list has ${formatCounted(total, 'call')} and ends before this page.`;
  }

  const of =
    total === undefined
      ? ' of the newest calls (older ones are still loaded, so nobody knows how many there are)'
      : '';
  const rows = `Rows ${formatCount(first)}-${formatCount(first + shown - 1)}${of}`;
  if (cursor === undefined) return `${rows}; these are the last.`;
  return `${rows}; more with cursor=${cursor}`;
}

/** Says that the list changed between two pages. */
function changedNote(before: number, now: number): string {
  return `The list changed while paging (${formatCounted(before, 'call')} before, ${formatCount(now)} now): rows may be repeated or missing. Start again for an exact list.`;
}
