import { periodStart } from '@call-attribution/core/time';
import type { Handler } from '../args/command.ts';
import { askHidden, canAsk } from '../config/prompt.ts';
import { UsageError } from '../errors.ts';
import { onCopy, print } from './on-store.ts';
import { erasedLines, numbersOf, openLedgers, refuseStrangeAccount, sayWhatRemains } from './removing.ts';

/** `calls store purge`: deletes older calls. */
export const purge = onCopy(async (copy, args, io) => {
  const account = args.need('account');
  const before = args.need('before');
  const border = periodStart(before);
  if (border === null)
    throw new UsageError(`--before is ${JSON.stringify(before)}, which is not a time that exists`, {
      hints: ['write a day or a time of the account: 2024-01-01, "2024-01-01 08:30:00"'],
    });
  await refuseStrangeAccount(copy, account);
  await print(io, { purged: await (copy.store ?? copy.warehouse).purge(account, border) });
});

/** `calls store erase`: deletes the calls of callers, now and in the future. */
export const erase: Handler = async (args, io) => {
  const typed = canAsk(io) ? await askHidden('Number of the caller', io) : await textOf(io.stdin);
  const numbers = numbersOf(typed);
  return onCopy(async (copy) => {
    const account = args.need('account');
    await refuseStrangeAccount(copy, account);
    const ledgers = await openLedgers(args.list('ledger'), copy, io);
    try {
      const callers = numbers.map(({ number }) => number);
      const erasure = await (copy.store ?? copy.warehouse).erase(account, callers);
      await ledgers.forget(erasure.sids);
      for (const line of erasedLines(numbers, erasure)) await print(io, line);
      sayWhatRemains(erasure, copy, account, io);
    } finally {
      await ledgers.close();
    }
  })(args, io);
};

async function textOf(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
  let text = '';
  for await (const chunk of stream)
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
  return text;
}
