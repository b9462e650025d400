import * as z from 'zod';
import { selectFields, showRecord } from '../fields.ts';
import { invalid } from '../text/failures.ts';
import { fieldNotes, tableNotes } from '../text/words.ts';
import { estimateTokens, makeTable } from './table.ts';
import { tool } from './tool.ts';
import { bidTools, whyCounts } from './why-counts.ts';

/** Shows one call. */
export const getCall = tool({
  name: 'get_call',
  title: 'Get one call',
  description: 'One call by sid; with for, why it counts as a conversion for a bid tool or not.',
  input: z.object({
    sid: z.string().min(1).max(200).describe('From list_calls'),
    fields: z.array(z.string().max(60)).max(100).optional().describe('Default all'),
    for: z.string().max(60).optional().describe(bidTools.join(', ')),
    rules: z.string().max(60).optional().describe('With for: rules by their name'),
  }),
  output: z.object({
    summary: z.string(),
    call: z.record(z.string(), z.any()),
    conversion: z.record(z.string(), z.any()).optional(),
    notes: z.array(z.string()),
  }),
  answers: '',
  async run({ sid, fields, for: tool, rules }, context) {
    const usual = tool === undefined ? 'all' : 'summary';
    const specs = selectFields(context.fields, context.version, fields ?? [usual]);
    const { source } = context;
    if (tool === undefined && rules !== undefined)
      throw invalid(
        'invalid_argument',
        'rules says nothing without for, which names the bid tool.',
      );
    const sent = await source.sent(sid, context);
    const why = tool === undefined ? null : await whyCounts(sent, tool, rules, context);
    const account = sent.account.name;
    const call = sent.account.mask(sent.call);
    const words = estimateTokens(JSON.stringify([why, fieldNotes(specs, context)])) + 150;
    const rows = {
      count: 1,
      row: (_: number, textLimit: number) => showRecord(call, specs, textLimit),
    };
    const table = makeTable(
      specs.map((spec) => spec.name),
      rows,
      context.budget - words,
    );
    const row = table.rows[0] ?? [];
    return {
      summary: `${why === null ? '' : `${sentences(why.said)}. `}One call${source.accounts.length > 1 ? ` of ${account}` : ''}, ${table.columns.length} of ${specs.length} fields have a value.`,
      ...(why === null ? {} : { conversion: why.data }),
      call: Object.fromEntries(table.columns.map((column, i) => [column, row[i] ?? null])),
      notes: tableNotes(table, specs, context),
    };
  },
});

/** Lines of the terminal as sentences. */
const sentences = (lines: readonly string[]): string =>
  lines.map((line) => `${line.charAt(0).toUpperCase()}${line.slice(1)}`).join('. ');
