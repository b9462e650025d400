import type { FleetStatus, Worker, WorkerEvent } from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { beforeOutput, type Io, say, shownText } from '../io.ts';
import { count, plural } from '../term/numbers.ts';
import { fit, printable } from '../term/width.ts';
import { progressTexts, shareOf } from './words.ts';

/** Milliseconds between two lines: on a terminal, where it is repainted, and in a log. */
const [repainted, logged] = [1_000, 10_000];

/** Shows how a worker is doing until `close` is called. With --log there is no such line. */
export function workLine(
  worker: Pick<Worker, 'card'>,
  look: () => Promise<FleetStatus | null>,
  args: Args,
  io: Io,
): { close(): void } {
  if (args.flag('log')) return { close: () => {} };
  const { stderr, env } = io;
  const isTerminal = stderr.isTTY === true && env.TERM !== 'dumb';
  let isShown = false;
  let isClosed = false;
  const clear = (): void => {
    if (isShown) stderr.write('\r\u001b[2K', () => {});
    isShown = false;
  };
  const show = async (): Promise<void> => {
    const status = await look().catch(() => null);
    if (isClosed) return;
    const text = lineOf(worker, status, io);
    if (!isTerminal) return say(io, text);
    beforeOutput.getStore()?.();
    const line = fit(text, Math.max(20, (stderr.columns ?? 80) - 1));
    stderr.write(`\r\u001b[2K${shownText(line)}`, () => {});
    isShown = true;
  };
  const timer = setInterval(() => void show(), isTerminal ? repainted : logged);
  return {
    close() {
      isClosed = true;
      clearInterval(timer);
      clear();
    },
  };
}

/** `15:04:11  3 of 4 slots  3,120 calls/s  job 41.2 %, 61,204 of 148,000 calls`. */
function lineOf({ card }: Pick<Worker, 'card'>, status: FleetStatus | null, io: Io): string {
  return [
    new Date(io.clock.now()).toTimeString().slice(0, 8),
    `${card.accounts.length} of ${plural(card.slots, 'slot')}`,
    `${count(Math.round(card.callsPerSecond))} calls/s`,
    ...(card.why === null ? [] : [`${card.state}: ${printable(card.why)}`]),
    ...(status === null
      ? ['the engine does not answer']
      : [
          `job ${(Math.floor(shareOf(status) * 1000) / 10).toFixed(1)} %, ${progressTexts(status).join(', ')}`,
        ]),
  ].join('  ');
}

/** One JSON line for each turn and change of the worker. */
export function logEvent(event: WorkerEvent, worker: string, io: Io): void {
  const { kind, ...facts } = event;
  say(io, JSON.stringify({ time: new Date(io.clock.now()).toISOString(), kind, worker, ...facts }));
}
