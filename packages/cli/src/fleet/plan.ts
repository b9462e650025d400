import {
  type Board,
  type Job,
  type PlanSummary,
  pinJob,
  planJob,
  readStatus,
  type Target,
} from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { refusedCodes } from '../failures/fleet.ts';
import { type Io, say } from '../io.ts';
import { count, plural, span } from '../term/numbers.ts';
import { progressLine } from '../term/progress.ts';
import { openSharedBoard, typedJob } from './place.ts';
import { credentialsOf, targetAt } from './set.ts';
import { reasonText } from './words.ts';

/** `calls fleet plan`: cuts each account into parcels and puts them on the board. */
export async function plan(args: Args, io: Io): Promise<number> {
  const { name, job } = await typedJob(args, io);
  if (job === null) {
    throw new UsageError(`calls fleet plan needs the file of the job: calls fleet plan ${name}.json`, {
      hints: ['docs/manual/fleet.md has an example of one'],
    });
  }
  const board = await openSharedBoard(args, io, name);
  try {
    const target = await targetAt(job.into, pinJob(job), args, io);
    try {
      const summary = await planWith({ job, board, target }, args, io);
      const typed = ['board', 'keys'].flatMap((option) => {
        const value = args.text(option);
        return value === null ? [] : [` --${option} ${value}`];
      });
      say(io, `${shortest(board, summary)}start workers with`);
      say(io, `  calls fleet work ${name}${typed.join('')}`);
      return exitOf(summary);
    } finally {
      await target.close();
    }
  } finally {
    await board.close();
  }
}

/** What a job is planned with. */
interface PlanSet {
  readonly job: Job;
  readonly board: Board;
  readonly target: Target;
}

/** Plans a job, and says how far it is and what came of it. */
export async function planWith({ job, board, target }: PlanSet, args: Args, io: Io): Promise<PlanSummary> {
  const from = performance.now();
  const about = [
    `${plural(job.accounts.length, 'account')} into ${job.into}`,
    ...(job.filter ? [`filter ${job.filter}`] : []),
    ...(job.from ? [`from ${job.from}`] : []),
  ];
  say(io, `${job.name}: ${about.join(', ')}`);
  const line = progressLine(io.stderr, {
    label: 'plan',
    clock: performance,
    isDumb: io.env.TERM === 'dumb',
  });
  try {
    const summary = await planJob(job, {
      board,
      target,
      credentials: credentialsOf(args, io),
      signal: io.signal,
      onProgress: (done, of) => {
        const seconds = (performance.now() - from) / 1000;
        const rate = seconds > 0 ? done / seconds : 0;
        line.update({ done, total: of, rate, note: '' });
      },
    });
    line.close();
    sayPlan(summary, performance.now() - from, io);
    return summary;
  } catch (error) {
    line.close();
    if (!io.signal.aborted) throw error;
    throw new Interrupted(['accounts that were planned stay so; the same command plans the others']);
  }
}

/** Accounts that are named when they could not be planned. */
const most = 10;

function sayPlan(summary: PlanSummary, took: number, io: Io): void {
  const { job, accounts, records, parcels, requests, aside } = summary;
  const figures = [
    `planned ${count(accounts - aside.length)} of ${plural(accounts, 'account')} until ${job.to}`,
    `${plural(records, 'record')} in ${plural(parcels, 'parcel')}`,
    `${plural(requests, 'request')}, ${span(took)}`,
  ];
  say(io, figures.join('   '));
  for (const { account, code, message } of aside.slice(0, most))
    say(io, `  ${account} is set aside: ${reasonText(code, message)}`);
  if (aside.length > most) say(io, `  and ${plural(aside.length - most, 'more account')}`);
}

/** Records of a page, and pages that are asked for twice: the ends of parcels are looked for. */
const [page, extra] = [1000, 1.2];

/** The least time that the rate allows for the largest account. */
function shortest(board: Board, { job }: PlanSummary): string {
  if (job.requestsPerMinute === null) return '';
  const largest = Math.max(0, ...readStatus(board).accounts.map(({ records }) => records.total));
  const time = ((largest / page) * extra * 60_000) / job.requestsPerMinute;
  if (time < 60_000) return '';
  return `at ${plural(job.requestsPerMinute, 'request')} a minute for each credential: ${span(time)} or more; `;
}

function exitOf({ aside, accounts }: PlanSummary): number {
  if (aside.length === 0) return exitCodes.ok;
  const isRefused = aside.length === accounts && aside.every(({ code }) => refusedCodes.has(code));
  return isRefused ? exitCodes.refused : exitCodes.incomplete;
}
