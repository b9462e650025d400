import * as z from 'zod';
import { readCursor, writeCursor } from '../results/cursor.ts';
import { countThatFits } from '../results/fit.ts';
import { count, counted } from '../results/words.ts';
import { cleanText, cutText } from '../untrusted/clean.ts';
import { defineTool, readsService } from './tool.ts';

const name = 'list_sms_numbers';

/** Lists the numbers of the account that can receive text messages. */
export const listSmsNumbers = defineTool({
  name,
  title: 'List SMS numbers',
  description: 'The account’s SMS-enabled numbers and their listeners.',
  input: z.object({ cursor: z.string().max(80).optional() }),
  output: z.object({
    summary: z.string(),
    columns: z.array(z.string()),
    rows: z.array(z.array(z.any())),
    total: z.number().int(),
    next_cursor: z.string().optional(),
  }),
  annotations: readsService,
  async run({ cursor }, context) {
    const scope = { tool: name, version: context.version, filter: '' };
    const { skip } = cursor === undefined ? { skip: 0 } : readCursor(scope, cursor, undefined);
    const client = await context.client();
    const numbers = await client.listSmsNumbers({ signal: context.signal });
    const rows = numbers
      .slice(skip)
      .map(({ number, smsEnabled, url }) => [cleanText(number), smsEnabled, listenerOf(url)]);
    const shown = rows.slice(0, countThatFits(rows, ['number', 'sms_enabled', 'url'], context.budget - 150));
    const end = skip + shown.length;
    const next =
      end < numbers.length ? writeCursor(scope, { rows: 0, start: 0, skip: end, total: null }) : undefined;
    const all = counted(numbers.length, 'SMS-enabled number', 'SMS-enabled numbers');
    const part =
      shown.length === numbers.length ? `${all}.` : `Rows ${count(skip + 1)}-${count(end)} of ${all}`;
    return {
      summary: next === undefined ? part : `${part}; more with cursor=${next}`,
      columns: ['number', 'sms_enabled', 'url'],
      rows: shown,
      total: numbers.length,
      ...(next === undefined ? {} : { next_cursor: next }),
    };
  },
});

/** Listener addresses often carry a password or a key: only the place is shown. */
function listenerOf(address: string | null): string | null {
  if (address === null || address === '') return null;
  const text = cleanText(address);
  if (!URL.canParse(text)) return 'not a URL';
  const url = new URL(text);
  const query = [...new Set(url.searchParams.keys())].map((key) => `${key}=…`).join('&');
  return cutText(`${url.protocol}//${url.host}${url.pathname}${query === '' ? '' : `?${query}`}`, 160);
}
