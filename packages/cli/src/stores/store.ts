import { periodStart } from '@call-attribution/core/time';
import type { Handler } from '../args.ts';
import { askHidden, canAsk } from '../config/prompt.ts';
import { UsageError } from '../errors.ts';
import { accountOf, onStore, print } from './on-store.ts';
import { erasedLines, numbersOf, openLedgers, sayWhatRemains } from './removing.ts';

/** `calls store purge`: deletes older calls. */
export const purge = onStore(async (store, args, io) => {
  const account = args.need('account');
  const before = args.need('before');
  const border = periodStart(before);
  if (border === null)
    throw new UsageError(`--before is ${JSON.stringify(before)}, which is not a time that exists`, {
      hints: ['write a day or a time of the account: 2024-01-01, "2024-01-01 08:30:00"'],
    });
  await accountOf(store, account);
  await print(io, { purged: await store.purge(account, border) });
});

/** `calls store erase`: deletes the calls of callers, now and in the future. */
export const erase: Handler = async (args, io) => {
  const typed = canAsk(io) ? await askHidden('Number of the caller', io) : await textOf(io.stdin);
  const numbers = numbersOf(typed);
  return onStore(async (store) => {
    const account = args.need('account');
    await accountOf(store, account);
    const ledgers = await openLedgers(args.list('ledger'), io);
    try {
      const callers = numbers.map(({ number }) => number);
      const erasure = await store.erase(account, callers);
      await ledgers.forget(erasure.sids);
      for (const line of erasedLines(numbers, erasure)) await print(io, line);
      sayWhatRemains(erasure, store, account, io);
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
