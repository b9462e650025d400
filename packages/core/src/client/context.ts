import type { RecordProblem } from '../record/check-record.ts';
import type { Call } from '../record/generated/calls.ts';
import { toCall } from '../record/to-call.ts';
import type { Client } from './client.ts';
import { type ReportEvent, reports } from './events.ts';
import { subscribeCallback, subscribeLog } from './observe.ts';
import type { ClientReport, Settings } from './options.ts';
import { createRequests, type Requests } from './request.ts';

/** What the methods of one client share. */
export interface Context {
  readonly client: Client;
  readonly settings: Settings;
  readonly requests: Requests;
  /** Publishes what the client notices. */
  report(report: ClientReport): void;
  /** Checks a record and gives its fields their neutral names. */
  readonly adapt: (record: unknown) => Call;
}

/** Puts the parts of a client together, and subscribes its logger and its callback to its events. */
export function createContext(client: Client, settings: Settings): Context {
  const { log, onReport, records, version } = settings;
  subscribeLog(client, log);
  if (onReport) subscribeCallback(client, onReport);
  const report = (report: ClientReport) => {
    if (reports.hasSubscribers) reports.publish({ client, report } satisfies ReportEvent);
  };
  const options = { records, onProblem: problemReporter(report) };
  return {
    client,
    settings,
    requests: createRequests(client, settings),
    report,
    adapt: (record) => toCall(record, version, options),
  };
}

/** Names of unknown fields come from the server; a phone number as a name must not reach a log. */
const plainName = /^[A-Za-z_][\w.-]{0,63}$/;

/** A server that invents a new field name for every record must not fill the memory. */
const mostNames = 1000;

/** Reports a problem once for each field and kind, not once for each record. */
function problemReporter(report: Context['report']): (problem: RecordProblem) => void {
  const reported = new Set<string>();
  return (problem) => {
    const key = `${problem.kind} ${problem.field}`;
    if (!reports.hasSubscribers || reported.has(key) || reported.size >= mostNames) return;
    reported.add(key);
    const field = plainName.test(problem.field) ? problem.field : '[unprintable name]';
    report({ type: 'record', ...problem, field });
  };
}
