import { exportMonths, type MonthTarget } from '@call-attribution/node-stream';
import { missingOf } from '@call-attribution/node-stream/copies';
import type { TurnEnd, TurnWork } from './target.ts';

/** Pages after which a turn ends with its month, so that others get one. */
const pagesOfTurn = 50;

/**
 * Exports an account by month, as `calls export --partition month` does. A long export ends with a
 * month, and the next turn goes on.
 */
export async function turnIntoMonths(target: MonthTarget, work: TurnWork): Promise<TurnEnd> {
  const { job, account, client, since, signal, now, onCalls } = work;
  const period = `date_added:[${job.from ?? '*'} TO ${job.until ?? '*'}}`;
  const { calls, isCut, files, verdict } = await exportMonths(client, target, {
    filter: [period, job.filter].filter((part) => part !== '').join(','),
    account: account.id,
    name: account.name,
    settle: job.settle,
    signal,
    clock: { now },
    since,
    maxPages: pagesOfTurn,
    onError: job.skip ? 'skip' : 'fail',
    onFile: ({ isKept, calls }) => {
      if (!isKept) onCalls(calls);
    },
  });
  if (isCut) return { kind: 'cut', note: { calls, total: null, whole: null, lacks: null } };
  const whole = verdict.proof === 'whole';
  const worst = whole ? undefined : files.find(({ verdict }) => verdict?.proof !== 'whole');
  const reasons = worst?.verdict?.gaps.map(({ why }) => why).join(', ') || 'nothing proves it';
  const lacks =
    worst === undefined
      ? null
      : `${worst.name} is ${worst.verdict?.proof ?? 'unproven'}: ${reasons}`;
  return { kind: 'round', note: { calls, total: calls + missingOf(verdict), whole, lacks } };
}
