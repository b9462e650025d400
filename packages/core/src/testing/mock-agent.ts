import { MockAgent } from 'undici';
import type { Call } from '../record/generated/calls.ts';
import { makeCalls } from './make-calls.ts';
import { planResponse } from './plan-response.ts';

/** What the mock serves. */
export interface MockOptions {
  /** The base URL the client under test is given. */
  readonly baseUrl: string;
  /** @default makeCalls(20) */
  readonly calls?: Call[];
}

/**
 * An undici MockAgent that responds as the API would, without a socket: pass it as `dispatcher`. Other origins are
 * refused. Further intercepts can be added to it as to any MockAgent.
 */
export function createMockAgent({ baseUrl, calls = makeCalls(20) }: MockOptions): MockAgent {
  const agent = new MockAgent();
  agent.disableNetConnect();
  const served = { calls, smsNumbers: [], maxRows: Number.POSITIVE_INFINITY };
  agent
    .get(new URL(baseUrl).origin)
    .intercept({ path: () => true, method: () => true })
    .reply(({ path }) => {
      const { status, headers, body } = planResponse(served, path);
      return { statusCode: status, data: body, responseOptions: { headers } };
    })
    .persist();
  return agent;
}
