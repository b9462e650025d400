import type { FeedReport } from '@call-attribution/service';
import { accountCalled, type Settings } from '@call-attribution/settings';
import type { Args } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import { forServer, type Io } from '../../io.ts';
import { layoutOf } from '../../report/question.ts';
import { readReports, typedOf } from '../typed/named-report.ts';
import { readStoredSettings } from '../typed/settings.ts';
import { questionOf } from './report-question.ts';

/** The reports of the configuration file, for feeds: each is what would be typed for it. */
export function feedReports(
  args: Args,
  settings: Settings,
  io: Io,
): ReadonlyMap<string, FeedReport> {
  const { path, all } = readReports(args, io);

  const settingsOf = (account: string): Settings =>
    accountCalled(account, settings.accounts) === null
      ? settings
      : readStoredSettings(account, args, io);

  return new Map(
    Array.from(all, ([name, report]) => {
      const typed = typedOf(report);

      const plan: FeedReport['plan'] = async (account, now) => {
        const own = settingsOf(account);
        const idOf = (called: string) => accountCalled(called, own.accounts)?.id ?? called;
        const named = typed.list('account').map(idOf);
        if (named.length > 0 && !named.includes(idOf(account)))
          throw new UsageError(
            `${path}: reports.${name} is of account ${typed.text('account')}, and the feed of ${account}`,
          );
        const accounts = [{ name: null, called: account, settings: own, problem: null }];
        const quiet = { ...forServer(io), clock: { now: () => now } };
        const [main] = layoutOf(await questionOf(typed, accounts, quiet), false).plans;
        if (main === undefined) throw new Error('a report has a question');
        return main;
      };

      return [name, { name, plan }];
    }),
  );
}
