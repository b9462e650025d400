import type { RecordProblem } from '../record/check-record.ts';
import type { Call } from '../record/generated/calls.ts';
import { toCall } from '../record/to-call.ts';
import { createEngine, type Engine } from './engine.ts';
import type { Report, Settings } from './options.ts';
import { createRequests, type Requests } from './requests.ts';

/** What the methods of one client share. */
export interface Context {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly requests: Requests;
  report(report: Report): void;
  /** Checks a record and gives its fields their neutral names. */
  readonly adapt: (record: unknown) => Call;
}

/** Puts the parts of a client together. */
export function createContext(settings: Settings): Context {
  const { onReport, records, version } = settings;
  const options = { records, onProblem: problemReporter(onReport) };
  return {
    settings,
    engine: createEngine(settings),
    requests: createRequests(settings),
    report: (report) => onReport?.(report),
    adapt: (record) => toCall(record, version, options),
  };
}

/** Names of unknown fields come from the server; a phone number as a name must not reach a log. */
const plainName = /^[A-Za-z_][\w.-]{0,63}$/;

/** A server that invents a new field name for every record must not fill the memory. */
const mostNames = 1000;

/** Reports a problem once for each field and kind, not once for each record. */
function problemReporter(onReport: Settings['onReport']): (problem: RecordProblem) => void {
  const reported = new Set<string>();
  return (problem) => {
    const key = `${problem.kind} ${problem.field}`;
    if (!onReport || reported.has(key) || reported.size >= mostNames) return;
    reported.add(key);
    const field = plainName.test(problem.field) ? problem.field : '[unprintable name]';
    onReport({ type: 'record', ...problem, field });
  };
}
