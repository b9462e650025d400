import { STATUS_CODES } from 'node:http';
import type { Problem } from '@call-attribution/query-dsl';
import type { Answer } from './exchange.ts';

/** What a refusal can say beside its words. */
export interface RefusalDetails {
  /** The query parameter or header at fault. */
  readonly parameter?: string;
  /** Where in `q` the fault is, and how to mend it. */
  readonly filter?: Problem;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that says no: thrown anywhere on the way, sent as `application/problem+json`. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: RefusalDetails;

  constructor(status: number, code: string, detail: string, details: RefusalDetails = {}) {
    super(detail);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** The refusal as it is sent. */
export function problemAnswer(refusal: Refusal, requestId: string): Answer {
  const { parameter, filter, headers = {} } = refusal.details;
  const body = {
    title: STATUS_CODES[refusal.status] ?? 'Error',
    status: refusal.status,
    code: refusal.code,
    detail: refusal.message,
    ...(parameter === undefined ? {} : { parameter }),
    ...(filter === undefined ? {} : { pointer: pointerOf(filter) }),
    requestId,
  };
  return {
    status: refusal.status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
    body: JSON.stringify(body),
  };
}

function pointerOf(problem: Problem) {
  const { code, start, end, expected, suggestions, fix } = problem;
  return { code, start, end, expected, suggestions, ...(fix === undefined ? {} : { fix }) };
}
