import type { Clock } from '@call-attribution/core';
import { escapeControls } from '@call-attribution/core/errors';
import { beforeOutput, type Io } from '../io.ts';
import { count, duration } from './numbers.ts';
import { clearLine, lineWidth, repaints } from './style.ts';

/** How far a long read is. */
export interface ProgressState {
  readonly done: number;
  /** Null until it is known. */
  readonly total: number | null;
  /** Records per second. */
  readonly rate: number;
  /** Retries and the like, in words; empty when there are none. */
  readonly note: string;
}

/** Shows progress: on a terminal as one line that is repainted, elsewhere as a plain line every few seconds. */
export interface ProgressLine {
  update(state: ProgressState): void;
  /** Closes the line, so that messages can follow. */
  close(): void;
}

/** Makes a progress line on stderr. */
export function progressLine(
  { stderr, env }: Pick<Io, 'stderr' | 'env'>,
  options: { label: string; clock: Pick<Clock, 'now'>; everyMs?: number },
): ProgressLine {
  const terminal = repaints(stderr, env);
  const every = options.everyMs ?? (terminal ? 100 : 5_000);
  const put = (text: string): void => {
    beforeOutput.getStore()?.();
    stderr.write(text, () => {});
  };
  let shownAt = Number.NEGATIVE_INFINITY;
  let latest: ProgressState | null = null;
  let shown: ProgressState | null = null;
  const show = (state: ProgressState): void => {
    shown = state;
    const text = line(options.label, state, terminal ? lineWidth(stderr) : null);
    const safe = escapeControls(text);
    put(terminal ? `${clearLine}${safe}` : `${safe}\n`);
  };
  return {
    update(state) {
      latest = state;
      const time = options.clock.now();
      // A terminal shows progress at once; a log shows nothing of a read that ends within the first interval.
      if (shownAt === Number.NEGATIVE_INFINITY && !terminal) shownAt = time;
      if (time - shownAt < every) return;
      shownAt = time;
      show(state);
    },
    close() {
      if (terminal) {
        // The last line may have given way to one about waiting.
        if (latest) {
          show(latest);
          put('\n');
        }
      } else if (latest && latest !== shown && shown) show(latest);
      latest = null;
      shown = null;
    },
  };
}

function line(label: string, state: ProgressState, width: number | null): string {
  const { done, total, rate } = state;
  const figures = total === null ? count(done) : `${count(done)} / ${count(total)}`;
  const share = total === null || total === 0 ? null : Math.min(1, done / total);
  const parts = [
    figures,
    ...(share === null ? [] : [`${Math.floor(share * 100)}%`]),
    `${count(rate)}/s`,
    ...(total === null || done === total || rate === 0
      ? []
      : [`ETA ${duration(((total - done) / rate) * 1000)}`]),
    ...(state.note ? [state.note] : []),
  ];
  const text = parts.join('  ');
  if (width === null) return `${label}: ${text}`;
  const space = Math.min(30, width - label.length - text.length - 5);
  const gauge =
    share === null || space < 5 ? '' : `[${'#'.repeat(Math.round(share * space)).padEnd(space, '-')}] `;
  return `${label} ${gauge}${text}`.slice(0, width);
}
