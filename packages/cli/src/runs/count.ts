import type { Handler } from '../args/command.ts';
import { exitCodes } from '../exit-codes.ts';
import { say, write } from '../io.ts';
import { chooseAccounts } from '../reading/accounts.ts';
import { contextOf } from '../reading/connect.ts';
import { eachAccount, planEach } from '../reading/each-account.ts';
import {
  extensionsNote,
  filterOf,
  leavesExtensions,
  rangeOf,
  sayCounted,
  withExtensions,
} from '../reading/filter.ts';
import { sayPeriod } from '../reading/period.ts';
import type { Total } from '../reading/source.ts';
import { plural } from '../term/numbers.ts';

/** `calls count`: one number on stdout, so that a script can read it; with several accounts, a line for each. */
export const count: Handler = async (args, io) => {
  const accounts = await planEach(await chooseAccounts(args, io), ({ settings }) => {
    const context = contextOf(settings, io);
    sayPeriod(rangeOf(args, context), context, io);
    return filterOf(args, context);
  });
  const asJson = args.flag('json');
  const counts: ({ account: string } & Omit<Total, 'extensions'>)[] = [];
  const found = { counted: 0, leftOut: 0 };
  let isLeaving = false;
  const status = await eachAccount(accounts, args, io, async ({ name, settings, plan: filter, open }) => {
    const counted = await open();
    try {
      const { total, source, extensions, ...lacks } = await counted.count(filter);
      if (name !== null) counts.push({ account: name, total, source, ...lacks });
      if (!asJson) await write(io.stdout, name === null ? `${total}\n` : `${name}\t${total}\n`);
      else if (name === null) await write(io.stdout, `${JSON.stringify({ total, source, ...lacks })}\n`);
      found.counted += extensions?.counted ?? 0;
      found.leftOut += extensions?.leftOut ?? 0;
      // How many the API leaves out costs a request, which a person waits for and a script need not.
      if (extensions === undefined && leavesExtensions(filter, settings.apiVersion.value)) {
        if (io.stderr.isTTY) found.leftOut += (await counted.count(withExtensions(filter))).total - total;
        else isLeaving = true;
      }
      if (args.flag('debug') && source !== 'store') say(io, `counted by the server (${source})`);
      return exitCodes.ok;
    } finally {
      await counted.close();
    }
  });
  sayCounted(found, io);
  if (isLeaving) say(io, extensionsNote);
  if (accounts.every(({ name }) => name === null)) return status;
  if (asJson) await write(io.stdout, `${JSON.stringify(counts)}\n`);
  const total = counts.reduce((sum, one) => sum + one.total, 0);
  say(io, `${plural(total, 'call')} in ${plural(counts.length, 'account')}`);
  return status;
};
