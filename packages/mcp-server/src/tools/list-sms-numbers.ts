import { scrub } from '@call-attribution/core/record';
import { formatCount, formatCounted } from '@call-attribution/questions/chart';
import * as z from 'zod';
import { cleanText, cutText, pageAddress } from '../privacy/text.ts';
import { withoutSentence } from '../text/words.ts';
import { countThatFits } from './table.ts';
import { tableOutput, tool } from './tool.ts';

/** Lists the account's SMS numbers. */
export const listSmsNumbers = tool({
  name: 'list_sms_numbers',
  title: 'List SMS numbers',
  description: 'Numbers for text messages, which of them take any, and their listeners.',
  input: z.object({}),
  output: z.object({ ...tableOutput, total: z.number().int() }).partial(),
  answers: '',
  async run(_, context) {
    const { source, signal, budget } = context;
    const { found, failed } = await source.askEach(context, async ({ name: account, client }) =>
      (await (await client()).listSmsNumbers({ signal })).map((number) => ({ account, ...number })),
    );
    const numbers = found.flat();
    const hasAccounts = source.accounts.length > 1;
    const columns = [...(hasAccounts ? ['account'] : []), 'number', 'sms_enabled', 'url'];
    const rows = numbers.map(({ account, number, smsEnabled, url }) => [
      ...(hasAccounts ? [account] : []),
      cleanText(number),
      smsEnabled,
      listenerOf(url),
    ]);
    const shown = rows.slice(0, countThatFits(rows, columns, budget - 150));
    const enabled = numbers.filter(({ smsEnabled }) => smsEnabled === true).length;
    let which = `${formatCount(enabled)} of which ${enabled === 1 ? 'takes' : 'take'}`;
    if (enabled === rows.length) which = rows.length === 1 ? 'which takes' : 'all of which take';
    const summary = [
      withoutSentence(failed.map(({ account }) => account)),
      ...failed.map(({ error }) => error.line),
      `${formatCounted(rows.length, 'number')}, ${which} text messages.`,
      shown.length < rows.length
        ? `The first ${formatCount(shown.length)} are shown; calls sms lists all.`
        : '',
    ];
    return {
      summary: summary.filter((text) => text !== '').join(' '),
      columns,
      rows: shown,
      total: rows.length,
    };
  },
});

/** Shows where a listener is. Its URL often carries a password or a key, which are left out. */
function listenerOf(address: string | null): string | null {
  if (address === null || address === '') return null;
  const text = cleanText(address);
  return URL.canParse(text) ? cutText(scrub(pageAddress(text)), 160) : 'not a URL';
}
