import { command } from '../command.ts';
import { exitCodes } from '../errors.ts';
import { say, write } from '../io.ts';
import {
  accounts,
  changes,
  connection,
  exclusion,
  only,
  output,
  whichCalls,
  without,
} from '../options.ts';
import { plural } from '../terminal/numbers.ts';

/**
 * `calls count`: one number on stdout, so that a script can read it; with several accounts, a line
 * for each.
 */
export const count = command({
  name: 'count',
  summary: 'count the calls that match',
  options: {
    ...without(whichCalls, '--on-bad-record <stop|skip>'),
    ...changes,
    ...exclusion,
    ...only(output, '--json'),
    ...accounts,
    ...connection,
  },
  examples: { 'calls count --period yesterday --time-zone Europe/Berlin': 'one number on stdout' },
  async run(args, io) {
    const { chooseCalls, eachAccount } = await import('./typed/accounts.ts');
    const { leavesExtensions } = await import('../input/filter.ts');
    const { sayCounted, sayLeftOut } = await import('./typed/filter.ts');
    const accounts = await chooseCalls(args, io);
    const several = accounts.some(({ name }) => name !== null);
    const counts: {
      readonly account: string | null;
      readonly total: number;
      readonly source: string;
    }[] = [];
    const found = { counted: 0, leftOut: 0 };
    let isLeaving = false;
    const status = await eachAccount(
      accounts,
      args,
      io,
      async ({ name, called, settings, plan: filter, open }) => {
        const counted = await open();
        try {
          const { total, source, extensions, said, lacks } = await counted.count(filter);
          for (const line of said) say(io, line);
          const incomplete = lacks.length === 0 ? {} : { incomplete: lacks };
          counts.push({ account: name, total, source, ...incomplete });
          if (!args.flag('json'))
            await write(io.stdout, several ? `${name}\t${total}\n` : `${total}\n`);
          else if (!several) {
            const account = called === null ? {} : { account: called };
            await write(
              io.stdout,
              `${JSON.stringify({ ...account, total, source, ...incomplete })}\n`,
            );
          }
          found.counted += extensions?.counted ?? 0;
          found.leftOut += extensions?.leftOut ?? 0;
          isLeaving ||=
            extensions === undefined && leavesExtensions(filter, settings.apiVersion.value);
          return exitCodes.ok;
        } finally {
          await counted.close();
        }
      },
    );
    await sayCounted(found, io);
    if (isLeaving) await sayLeftOut(io);
    if (!several) return status;
    if (args.flag('json')) await write(io.stdout, `${JSON.stringify(counts)}\n`);
    const total = counts.reduce((sum, one) => sum + one.total, 0);
    say(io, `${plural(total, 'call')} in ${plural(counts.length, 'account')}`);
    return status;
  },
});
