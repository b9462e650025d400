import * as z from 'zod';
import { selectFields, showRecord } from '../fields.ts';
import { fieldNotes, tableNotes } from '../text/words.ts';
import { estimateTokens, makeTable } from './table.ts';
import { tool } from './tool.ts';

/** Shows one call. */
export const getCall = tool({
  name: 'get_call',
  title: 'Get one call',
  description: 'One call by sid.',
  input: z.object({
    sid: z.string().min(1).max(200).describe('From list_calls'),
    fields: z.array(z.string().max(60)).max(100).optional().describe('Default all'),
  }),
  output: z.object({
    summary: z.string(),
    call: z.record(z.string(), z.any()),
    notes: z.array(z.string()),
  }),
  answers: '',
  async run({ sid, fields }, context) {
    const specs = selectFields(context.fields, context.version, fields ?? ['all']);
    const { source } = context;
    const { call, account, notes } = await source.get(sid, context);
    const words = estimateTokens(JSON.stringify([notes, fieldNotes(specs, context)])) + 150;
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
      summary: `One call${source.accounts.length > 1 ? ` of ${account}` : ''}, ${table.columns.length} of ${specs.length} fields have a value.`,
      call: Object.fromEntries(table.columns.map((column, i) => [column, row[i] ?? null])),
      notes: [...notes, ...tableNotes(table, specs, context)],
    };
  },
});
