import * as z from 'zod';
import { chooseFilter, filterShape } from '../arguments/filter.ts';
import { counted, zoneNote } from '../results/words.ts';
import { defineTool, readsService } from './tool.ts';

const sources: Readonly<Record<string, string>> = {
  count: 'the count request of the API',
  'content-range': 'the Content-Range header of a one-row list',
};

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
  annotations: readsService,
  async run(args, context) {
    const { text, filter, notes } = chooseFilter(args, context.version);
    const client = await context.client();
    const { total, source } = await client.countCalls({
      signal: context.signal,
      ...(filter ? { filter } : {}),
    });
    const where = text === '' ? 'in all' : `for ${text}`;
    return {
      summary: `${counted(total, 'call', 'calls')} ${where}, by ${sources[source] ?? source}.`,
      total,
      source,
      filter: text,
      notes: text.includes('date_added') ? [...notes, zoneNote(context.timeZone)] : notes,
    };
  },
});
