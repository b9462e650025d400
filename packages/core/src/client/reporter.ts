import type { RecordProblem } from '../record/check-record.ts';
import type { Report } from './client-options.ts';

/** Passes reports on; a departure from the table is told once for each field and kind, not once for each record. */
export interface Reporter {
  tell(report: Report): void;
  onProblem(problem: RecordProblem): void;
}

/** Names of unknown fields come from the server; somebody's number as a name must not reach a log. */
const plainName = /^[A-Za-z_][\w.-]{0,63}$/;

/** A server that invents a new field name for every record must not fill the memory. */
const mostNames = 1000;

/** See `Reporter`. */
export function createReporter(onReport: ((report: Report) => void) | undefined): Reporter {
  const told = new Set<string>();
  return {
    tell: (report) => onReport?.(report),
    onProblem(problem) {
      if (!onReport) return;
      const key = `${problem.kind} ${problem.field}`;
      if (told.has(key) || told.size >= mostNames) return;
      told.add(key);
      const field = plainName.test(problem.field) ? problem.field : '[unprintable name]';
      onReport({ type: 'record', ...problem, field });
    },
  };
}
