import type { Client } from '@call-attribution/core';
import {
  type CallStream,
  type CallStreamOptions,
  createCallStream,
  type Progress,
  type Verdict,
} from '@call-attribution/node-stream';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { count, plural } from '../term/numbers.ts';
import { type ProgressLine, progressLine } from '../term/progress.ts';

/** A progress line fed by a stream of calls. */
export function watch(
  io: Io,
  label: string,
): { line: ProgressLine; onProgress: (progress: Progress) => void } {
  const line = progressLine(io.stderr, { label, now: () => performance.now() });
  const onProgress = ({ done, total, rate, etaMs, retries, rereads }: Progress): void => {
    const notes = [
      ...(retries > 0 ? [plural(retries, 'retry', 'retries')] : []),
      ...(rereads > 0 ? [plural(rereads, 'slice')].map((text) => `${text} read again`) : []),
    ];
    line.update({ done, total, rate, etaMs, note: notes.join(', ') });
  };
  return { line, onProgress };
}

/** A stream of calls that ends with a verdict instead of failing where the server gives no totals. */
export function readCalls(
  client: Client,
  options: CallStreamOptions,
): { stream: CallStream; verdict: Promise<Verdict> } {
  const stream = createCallStream(client, { incomplete: 'report', ...options });
  const verdict = new Promise<Verdict>((resolve) => stream.once('verdict', resolve));
  return { stream, verdict };
}

/** What the end of a read proves, in one sentence. */
export function verdictText(verdict: Verdict): string {
  const all = verdict.deliveredBefore + verdict.delivered;
  const extras = [
    ...(verdict.duplicatesDropped > 0
      ? [`${plural(verdict.duplicatesDropped, 'repeated call')} left out`]
      : []),
    ...(verdict.changed > 0
      ? [`${plural(verdict.changed, 'call')} written again because it changed meanwhile`]
      : []),
    ...(verdict.rereads > 0 ? [`${plural(verdict.rereads, 'part')} read again`] : []),
  ];
  const more = extras.length > 0 ? `; ${extras.join(', ')}` : '';
  if (verdict.complete)
    return `complete: ${plural(all, 'call')}, as many as the server says there are${more}`;
  const why =
    verdict.skipped > 0
      ? `${plural(verdict.skipped, 'call')} could not be read`
      : verdict.total === null
        ? 'the server gave no totals, so nothing proves that this is all'
        : `the server says ${count(verdict.total)}`;
  return `INCOMPLETE: ${plural(all, 'call')}; ${why}${more}`;
}

/** Says the verdict and answers the exit status that goes with it. */
export function judge(verdict: Verdict, io: Io): number {
  say(io, verdictText(verdict));
  return verdict.complete ? exitCodes.ok : exitCodes.incomplete;
}
