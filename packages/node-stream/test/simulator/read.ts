import { newState, type ReadState, spansToRead } from '../../src/reader/checkpoint.ts';
import type { Trouble } from '../../src/reader/judge.ts';
import { Ledger, sizeOf } from '../../src/reader/ledger.ts';
import type { PlanEvent, Step } from '../../src/reader/plan.ts';
import type { BoundStyle } from '../../src/reader/span.ts';
import {
  newPlan,
  type Output,
  type Plan,
  type PlanFailure,
  type PlanSettings,
} from '../../src/reader/state.ts';
import type { Failure } from '../../src/reader/work.ts';
import type { Dice } from './dice.ts';
import type { ModelRecord, ModelServer, ModelView } from './server.ts';

/** The reducer under test, or one with a mistake planted in it. */
export type Reducer = (plan: Plan, event: PlanEvent) => Step;

/** What came of one run over a query. */
export interface ReadResult {
  /** The records the consumer took, in order. */
  readonly taken: readonly ModelRecord[];
  readonly ended: 'end' | 'failure' | 'stopped' | 'stuck' | 'endless';
  readonly failure: PlanFailure | null;
  readonly checkpoint: ReadState;
  readonly rereads: readonly Trouble[];
  readonly requests: number;
  /** What the run did that it must never do. */
  readonly violations: readonly string[];
  /** Records were dropped because they had gone out already. */
  readonly again: number;
}

/** How one run goes. */
export interface ReadScript {
  readonly settings: PlanSettings;
  readonly style: BoundStyle | null;
  readonly checkpoint: ReadState | null;
  /** Records after which the consumer stops. */
  readonly stopAfter: number;
  /** Something else happens to the list; called between any two events. */
  readonly tick: () => void;
}

interface InFlight {
  readonly request: Extract<Output, { kind: 'request' }>;
  response: ModelView | Failure | null;
}

const mostRequests = 3000;

/** Runs the planning against a model of a server, in virtual time: what is possible next happens in any order. */
export function simulateRead(
  reducer: Reducer,
  server: ModelServer,
  script: ReadScript,
  dice: Dice,
): ReadResult {
  const { settings, checkpoint: from, stopAfter } = script;
  const begun = from ?? newState(settings.countBefore);
  const inFlight: InFlight[] = [];
  const pages = new Map<number, ModelView>();
  const errors = new Set<number>();
  const ledger = new Ledger({ now: () => 0 }, begun);
  const taken: ModelRecord[] = [];
  const rereads: Trouble[] = [];
  const violations: string[] = [];
  const seen = new Set<string>();
  let plan = newPlan(settings, spansToRead(begun), { resume: begun.place, style: script.style });
  let requests = 0;
  let again = 0;
  let isWaiting = false;
  let ended: ReadResult['ended'] | null = null;
  let failure: PlanFailure | null = null;

  const send = (request: Extract<Output, { kind: 'request' }>): void => {
    requests += 1;
    inFlight.push({ request, response: null });
    const most = settings.lookahead.pages + 1;
    if (heldPages(plan) > most) violations.push(`more than ${most} pages are held`);
    if (openPages(plan) > 1) violations.push('two pages of an open end are held');
  };
  const take = (output: Extract<Output, { kind: 'batch' }>): void => {
    const { batch } = output;
    const page = pages.get(batch.id);
    pages.delete(batch.id);
    isWaiting = false;
    again += batch.again;
    if (page === undefined) {
      violations.push('a batch has no page');
      return;
    }
    const size = sizeOf(batch);
    ledger.enter(batch);
    ledger.measure(size, 'record');
    for (let i = 0; i < size && ended === null; i++) {
      const record = page.records[batch.keep?.[i] ?? i] as ModelRecord;
      const key = `${record.sid} ${record.version}`;
      if (seen.has(key)) violations.push(`${key} was delivered twice in one run`);
      seen.add(key);
      taken.push(record);
      if (taken.length === stopAfter) ended = 'stopped';
      ledger.settle(size - 1 - i);
    }
    if (size === 0) ledger.settle(0);
  };
  const handle = (event: PlanEvent): void => {
    const step = reducer(plan, event);
    plan = step.plan;
    for (const output of step.outputs) {
      if (output.kind === 'request') send(output);
      else if (output.kind === 'batch') take(output);
      else if (output.kind === 'forget') {
        pages.delete(output.id);
        errors.delete(output.id);
      } else if (output.kind === 'reread') rereads.push(output.trouble);
      else if (output.kind === 'end') ended = 'end';
      else if (output.kind === 'failure') {
        failure = output.failure;
        ended = 'failure';
        if (failure.kind === 'request' && !errors.has(failure.id)) violations.push('a failure has no error');
      }
    }
  };

  while (ended === null) {
    script.tick();
    if (requests > mostRequests) {
      ended = 'endless';
      break;
    }
    const choices = inFlight.length + (isWaiting ? 0 : 1);
    if (choices === 0) {
      ended = 'stuck';
      break;
    }
    const choice = dice.below(choices);
    const flight = inFlight[choice];
    if (flight === undefined) {
      isWaiting = true;
      handle({ kind: 'wanted' });
    } else if (flight.response === null) {
      flight.response = server.respond(flight.request) as ModelView | Failure;
    } else {
      inFlight.splice(choice, 1);
      const { id } = flight.request;
      if (typeof flight.response === 'string') {
        errors.add(id);
        handle({ kind: 'failed', id, failure: flight.response });
      } else {
        pages.set(id, flight.response);
        handle({ kind: 'arrived', id, page: flight.response });
      }
    }
  }
  if ((ended as ReadResult['ended']) === 'end' && pages.size > 0)
    violations.push('pages are kept after the end');
  if ((ended as ReadResult['ended']) === 'end' && errors.size > 0)
    violations.push('errors are kept after the end');
  const checkpoint = ledger.taken;
  return { taken, ended, failure, checkpoint, rereads, requests, violations, again };
}

/** Pages held of slices that may still grow. */
function openPages({ work, settings }: Plan): number {
  const { upper, sealedBefore } = settings;
  let count = 0;
  for (const piece of work)
    if (piece.kind === 'slice' && (piece.span.to ?? upper ?? Number.POSITIVE_INFINITY) > sealedBefore)
      count += piece.pages.length;
  return count;
}

function heldPages({ work }: Plan): number {
  let count = 0;
  for (const piece of work) if (piece.kind === 'slice') count += piece.pages.length;
  return count;
}
