import {
  exportMonths,
  type MonthsSummary,
  type MonthTarget,
  sliceFilter,
} from '@call-attribution/node-stream';
import type { TurnEnd, TurnWork } from './turn.ts';

/** A folder or a bucket. */
export interface FilesPlace {
  /** Takes an account: who took it before cannot put a file there any more (`claim_lost`). */
  begin(account: string): Promise<MonthTarget & { close(): Promise<void> }>;
}

/** Pages after which a turn ends with its month, so that others get one. */
const pagesOfTurn = 50;

/** Exports an account by month, as `calls export --partition month` does. A long export ends with a month, and the next turn goes on. */
export async function turnIntoFiles(place: FilesPlace, work: TurnWork): Promise<TurnEnd> {
  const { job, account, turn, client, signal, now, onCalls } = work;
  const target = await place.begin(account.id);
  try {
    const summary = await exportMonths(client, target, {
      filter: sliceFilter(job.filter, { from: job.from, to: job.until }, 'half-open', job.version),
      ...{ account: account.id, name: account.name, settle: job.settle, signal, clock: { now } },
      since: turn.note.round ?? now(),
      maxPages: pagesOfTurn,
      onError: job.skip ? 'skip' : 'fail',
      onFile: ({ isKept, calls }) => {
        if (!isKept) onCalls(calls);
      },
    });
    return { kind: summary.isCut ? 'cut' : 'round', note: factsOf(summary) };
  } finally {
    await target.close();
  }
}

function factsOf({ calls, isCut, files, verdict }: MonthsSummary) {
  if (isCut) return { calls, total: null, whole: null, lacks: null };
  const missing = verdict.gaps.reduce((sum, gap) => sum + (gap.missing ?? 0), 0);
  const isWhole = verdict.proof === 'whole';
  return { calls, total: calls + missing, whole: isWhole, lacks: isWhole ? null : lacksOf(files) };
}

/** The first file that is not whole, in a sentence. */
function lacksOf(files: MonthsSummary['files']): string | null {
  const worst = files.find(({ verdict }) => verdict?.proof !== 'whole');
  const reasons = worst?.verdict?.gaps.map(({ why }) => why).join(', ') || 'nothing proves it';
  return worst === undefined ? null : `${worst.name} is ${worst.verdict?.proof ?? 'unproven'}: ${reasons}`;
}
