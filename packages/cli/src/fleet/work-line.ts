import type { Board, FleetStatus, WorkerEvent } from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { beforeOutput, type Io, say, shownText } from '../io.ts';
import { count, plural } from '../term/numbers.ts';
import { fit, printable } from '../term/width.ts';
import { rateTexts } from './words.ts';

/** Milliseconds between two lines: on a terminal, where it is repainted, and in a log. */
const [repainted, logged] = [1_000, 10_000];

/** Shows how a worker is doing until `end` is called. With --log there is no such line. */
export function workLine(
  name: string,
  read: () => FleetStatus,
  board: Board,
  args: Args,
  io: Io,
): { close(): void } {
  if (args.flag('log')) return { close: () => {} };
  const { stderr, env } = io;
  const isTerminal = stderr.isTTY === true && env.TERM !== 'dumb';
  let isShown = false;
  const clear = (): void => {
    if (isShown) stderr.write('\r\u001b[2K', () => {});
    isShown = false;
  };
  const timer = setInterval(
    () => {
      const text = lineOf(name, read(), board, io);
      if (!isTerminal) return say(io, text);
      beforeOutput.getStore()?.();
      const line = fit(text, Math.max(20, (stderr.columns ?? 80) - 1));
      stderr.write(`\r\u001b[2K${shownText(line, env)}`, () => {});
      isShown = true;
    },
    isTerminal ? repainted : logged,
  );
  return {
    close() {
      clearInterval(timer);
      clear();
    },
  };
}

/** `15:04:11  8 slots  3,120 records/s  board ok  target ok  14 credentials at the limit`. */
function lineOf(name: string, status: FleetStatus, board: Board, io: Io): string {
  const own = status.workers.find((worker) => worker.name === name);
  const { records, parcels, rates } = status;
  const share = records.total === 0 ? 1 : Math.min(1, records.done / records.total);
  return [
    new Date(io.clock.now()).toTimeString().slice(0, 8),
    ...(own ? [`${own.busy} of ${plural(own.slots, 'slot')}`] : []),
    ...(own?.recordsPerSecond == null ? [] : [`${count(own.recordsPerSecond)} records/s`]),
    board.contactSince === null ? `${board.name} does not answer` : 'board ok',
    own?.state === 'resting' ? `resting: ${printable(own.why ?? '')}` : 'target ok',
    `job ${(Math.floor(share * 1000) / 10).toFixed(1)} %, ${count(parcels.done)} of ${plural(parcels.total, 'parcel')}`,
    ...rateTexts(rates),
    ...(status.state === 'paused' ? ['paused'] : []),
  ].join('  ');
}

/** One JSON line for each parcel, account and change of the worker. Writes to the board and waits are in the metrics. */
export function logEvent(event: WorkerEvent, worker: string, io: Io): void {
  if (event.kind === 'board' || event.kind === 'wait') return;
  const { kind, ...facts } = event;
  say(io, JSON.stringify({ time: new Date(io.clock.now()).toISOString(), kind, worker, ...facts }));
}
