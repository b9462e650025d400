import type { RecordProblem } from '../record/check-record.ts';
import type { Call } from '../record/generated/calls.ts';
import { toCall } from '../record/to-call.ts';
import { createEngine, type Engine } from './engine.ts';
import { logReport } from './log-request.ts';
import type { ClientReport, Settings } from './options.ts';
import { createRequests, type Requests } from './requests.ts';

/** What the methods of one client share. */
export interface Context {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly requests: Requests;
  report(report: ClientReport): void;
  /** Checks a record and gives its fields their neutral names. */
  readonly adapt: (record: unknown) => Call;
}

/** Puts the parts of a client together. */
export function createContext(settings: Settings): Context {
  const { log, onReport, records, version } = settings;
  const isHeard = log.warn !== undefined || onReport !== undefined;
  const report = (report: ClientReport) => {
    logReport(log, report);
    onReport?.(report);
  };
  const options = { records, onProblem: problemReporter(isHeard ? report : undefined) };
  return {
    settings,
    engine: createEngine(settings),
    requests: createRequests(settings),
    report,
    adapt: (record) => toCall(record, version, options),
  };
}

/** Names of unknown fields come from the server; a phone number as a name must not reach a log. */
const plainName = /^[A-Za-z_][\w.-]{0,63}$/;

/** A server that invents a new field name for every record must not fill the memory. */
const mostNames = 1000;

/** Reports a problem once for each field and kind, not once for each record. */
function problemReporter(report: Settings['onReport']): (problem: RecordProblem) => void {
  const reported = new Set<string>();
  return (problem) => {
    const key = `${problem.kind} ${problem.field}`;
    if (!report || reported.has(key) || reported.size >= mostNames) return;
    reported.add(key);
    const field = plainName.test(problem.field) ? problem.field : '[unprintable name]';
    report({ type: 'record', ...problem, field });
  };
}
