import * as z from 'zod';
import { pageAddress } from '../privacy/page-address.ts';
import { scrub } from '../privacy/scrub.ts';
import { cleanText, cutText } from '../privacy/text.ts';
import { failureText } from '../text/failures.ts';
import { count, counted } from '../text/notes.ts';
import { withoutSentence } from '../text/summaries.ts';
import { countThatFits, readCursor, writeCursor } from './table.ts';
import { tool } from './tool.ts';

const name = 'list_sms_numbers';
const ownColumns = ['number', 'sms_enabled', 'url'];

/** Lists the account's SMS numbers. */
export const listSmsNumbers = tool({
  name,
  title: 'List SMS numbers',
  description: 'Numbers for text messages, which of them take any, and their listeners.',
  input: z.object({ cursor: z.string().max(80).optional() }),
  output: z.object({
    summary: z.string(),
    columns: z.array(z.string()),
    rows: z.array(z.array(z.any())),
    total: z.number().int(),
    next_cursor: z.string().optional(),
  }),
  answers: '',
  async run({ cursor }, context) {
    const { offset: skip } = readCursor(name, cursor);
    const { source, signal } = context;
    const { found, failed } = await source.askEach(context, async ({ name: account, client }) =>
      (await (await client()).listSmsNumbers({ signal })).map((number) => ({ account, ...number })),
    );
    const incomplete = withoutSentence(failed.map(({ account }) => account));
    const why = failed.map(({ error }) => failureText(error.problem).replaceAll('\n', ' '));
    const numbers = found.flat();
    const columns = source.accounts.length > 1 ? ['account', ...ownColumns] : ownColumns;
    const rows = numbers
      .slice(skip)
      .map(({ account, number, smsEnabled, url }) => [
        ...(source.accounts.length > 1 ? [account] : []),
        cleanText(number),
        smsEnabled,
        listenerOf(url),
      ]);
    const shown = rows.slice(0, countThatFits(rows, columns, context.budget - 150));
    const enabled = numbers.filter(({ smsEnabled }) => smsEnabled === true).length;
    const end = skip + shown.length;
    const next = end < numbers.length ? writeCursor(name, { offset: end, total: null }) : undefined;
    return {
      summary: [
        incomplete,
        ...why,
        smsSummary({ shown: shown.length, first: skip + 1, total: numbers.length, enabled }, next),
      ]
        .filter((text) => text !== '')
        .join(' '),
      columns,
      rows: shown,
      total: numbers.length,
      ...(next === undefined ? {} : { next_cursor: next }),
    };
  },
});

/** Shows where a listener is. Its URL often carries a password or a key, which are left out. */
function listenerOf(address: string | null): string | null {
  if (address === null || address === '') return null;
  const text = cleanText(address);
  return URL.canParse(text) ? cutText(scrub(pageAddress(text)), 160) : 'not a URL';
}

/** Says how many SMS numbers there are, how many take text messages, and which of them a page has. */
function smsSummary(
  { shown, first, total, enabled }: { shown: number; first: number; total: number; enabled: number },
  cursor: string | undefined,
): string {
  let which = `${count(enabled)} of which ${enabled === 1 ? 'takes' : 'take'}`;
  if (enabled === total) which = total === 1 ? 'which takes' : 'all of which take';
  const all = `${counted(total, 'number', 'numbers')}, ${which} text messages`;
  if (shown === total) return `${all}.`;
  const rows = `Rows ${count(first)}-${count(first + shown - 1)} of ${all}`;
  return cursor === undefined ? rows : `${rows}; more with cursor=${cursor}`;
}
