import type { Output } from '../io.ts';
import { count, duration } from './numbers.ts';

/** Where a long read stands. */
export interface Standing {
  readonly done: number;
  /** Null until the server has said it. */
  readonly total: number | null;
  /** Records a second. */
  readonly rate: number;
  readonly etaMs: number | null;
  /** Retries, re-reads and the like, already in words; empty when all is well. */
  readonly note: string;
}

/** Shows how a long read goes: a line repainted in place on a terminal, a plain line now and then elsewhere. */
export interface ProgressLine {
  update(standing: Standing): void;
  /** Takes the bar away (or prints the last plain line), so that talk can follow. */
  end(): void;
}

/** Makes a progress line on `output`; `now` is in milliseconds. */
export function progressLine(
  output: Output,
  options: { label: string; now: () => number; everyMs?: number },
): ProgressLine {
  const terminal = output.isTTY === true;
  const every = options.everyMs ?? (terminal ? 100 : 5_000);
  const put = (text: string): void => {
    output.write(text, () => {});
  };
  let shownAt = Number.NEGATIVE_INFINITY;
  let latest: Standing | null = null;
  let shown: Standing | null = null;
  const show = (standing: Standing): void => {
    shown = standing;
    const text = line(options.label, standing, terminal ? Math.max(20, (output.columns ?? 80) - 1) : null);
    put(terminal ? `\r\u001b[2K${text}` : `${text}\n`);
  };
  return {
    update(standing) {
      latest = standing;
      const time = options.now();
      // A short read that ends before the first interval says nothing on a log, but a terminal sees it at once.
      if (shownAt === Number.NEGATIVE_INFINITY && !terminal) shownAt = time;
      if (time - shownAt < every) return;
      shownAt = time;
      show(standing);
    },
    end() {
      if (terminal) {
        if (latest && latest !== shown) show(latest);
        if (latest) put('\n');
      } else if (latest && latest !== shown && shown) show(latest);
      latest = null;
      shown = null;
    },
  };
}

function line(label: string, standing: Standing, width: number | null): string {
  const { done, total, rate, etaMs } = standing;
  const figures = total === null ? count(done) : `${count(done)} / ${count(total)}`;
  const share = total === null || total === 0 ? null : Math.min(1, done / total);
  const parts = [
    figures,
    ...(share === null ? [] : [`${Math.floor(share * 100)}%`]),
    `${count(rate)}/s`,
    ...(etaMs === null || done === total ? [] : [`ETA ${duration(etaMs)}`]),
    ...(standing.note ? [standing.note] : []),
  ];
  const text = parts.join('  ');
  if (width === null) return `${label}: ${text}`;
  const room = Math.min(30, width - label.length - text.length - 5);
  const gauge =
    share === null || room < 5 ? '' : `[${'#'.repeat(Math.round(share * room)).padEnd(room, '-')}] `;
  return `${label} ${gauge}${text}`.slice(0, width);
}
