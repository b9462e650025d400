import type { ReplyChanges } from '@call-attribution/service';
import type { Fault } from './fault.ts';

/** How one request will be answered, once all faults that meet it are put together. */
export interface AnswerPlan {
  /** Milliseconds to wait first. */
  readonly delay: number;
  /** Close the connection instead of answering. */
  readonly reset: boolean;
  /** An answer that takes the place of the real one. */
  readonly instead: { status: number; headers: Readonly<Record<string, string>>; body: string } | null;
  /** Changes that the service makes while it answers. */
  readonly changes: ReplyChanges;
  /** How the body ends early: after this share of its bytes the connection falls silent, or else is closed. */
  readonly body: { share: number; silent: boolean } | null;
}

const page = `<!doctype html>
<html lang="en"><head><title>Please sign in</title></head>
<body><h1>Please sign in</h1><p>Your session has ended.</p></body></html>
`;

/** Puts faults together: waits add up, and for the rest the later fault wins over the earlier. */
export function planAnswer(faults: readonly Fault[]): AnswerPlan {
  const all: Fault = Object.assign({}, ...faults);
  const { clamp, shift, single, count, status, cut, stall } = all;
  return {
    delay: faults.reduce((sum, fault) => sum + (fault.latency ?? 0), 0),
    reset: all.reset ?? false,
    instead: all.html || status !== undefined ? answerInstead(all) : null,
    changes: {
      ...(clamp === undefined ? {} : { clampRows: clamp }),
      ...(shift === undefined ? {} : { shift }),
      ...(single === undefined ? {} : { singleAs: single }),
      ...(count === undefined ? {} : { countAs: count }),
    },
    body:
      stall !== undefined
        ? { share: stall, silent: true }
        : cut !== undefined
          ? { share: cut, silent: false }
          : null,
  };
}

function answerInstead({ status, retryAfter, html }: Fault) {
  const retry: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  if (html) {
    return {
      status: status ?? 200,
      headers: { ...retry, 'content-type': 'text/html; charset=utf-8' },
      body: page,
    };
  }
  const code = status ?? 500;
  const problem = {
    type: 'about:blank',
    title: `Made-up answer ${code}`,
    status: code,
    code: 'sandbox_fault',
    detail: 'The sandbox was asked for this answer by a fault.',
  };
  return {
    status: code,
    headers: { ...retry, 'content-type': 'application/problem+json' },
    body: JSON.stringify(problem),
  };
}
