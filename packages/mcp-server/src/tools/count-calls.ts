import * as z from 'zod';
import { chooseFilter, filterShape } from '../arguments/filter.ts';
import { zoneNote } from '../text/notes.ts';
import { countSummary } from '../text/summaries.ts';
import { defineTool, readsApi } from './tool.ts';

/** Counts calls. */
export const countCalls = defineTool({
  name: 'count_calls',
  title: 'Count calls',
  description: 'How many calls match, without listing them.',
  input: z.object(filterShape),
  output: z.object({
    summary: z.string(),
    total: z.number().int(),
    source: z.string(),
    filter: z.string(),
    notes: z.array(z.string()),
  }),
  annotations: readsApi,
  async run(args, context) {
    const { text, filter, notes } = chooseFilter(args, context.version);
    const client = await context.client();
    const { total, source } = await client.countCalls({
      signal: context.signal,
      ...(filter ? { filter } : {}),
    });
    return {
      summary: countSummary(total, text, source),
      total,
      source,
      filter: text,
      notes: text.includes('date_added') ? [...notes, zoneNote(context.timeZone)] : notes,
    };
  },
});
