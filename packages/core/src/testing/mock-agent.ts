import { createRequire } from 'node:module';
import type { MockAgent } from 'undici';
import type { Call } from '../record/generated/calls.ts';
import { fixtureCalls } from './fixture-calls.ts';
import { planResponse } from './plan-response.ts';

// The sandbox uses its neighbors in each start; undici takes a fifth of one.
const load = createRequire(import.meta.url);

/** See `createMockAgent`. */
export interface MockOptions {
  /** The base URL of the client under test. */
  readonly baseUrl: string;
  /** The calls it serves. @default fixtureCalls(20) */
  readonly calls?: Call[] | undefined;
}

/**
 * An undici MockAgent that responds as the API would, without a socket: pass it as `dispatcher`. Other origins are
 * refused. Further intercepts can be added to it as to any MockAgent.
 *
 * @example
 * const dispatcher = createMockAgent({ baseUrl });
 * const client = createClient({ baseUrl, dispatcher, auth: apiKeys('a', 'b') });
 */
export function createMockAgent(options: MockOptions): MockAgent {
  const { baseUrl, calls = fixtureCalls(20) } = options;
  const undici: typeof import('undici') = load('undici');
  const agent = new undici.MockAgent();
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
