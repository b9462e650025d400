import { PassThrough } from 'node:stream';
import { fixtureCalls } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { createServer, serveStdio, tools } from '../../src/index.ts';
import { fakeClient } from './fake-client.ts';
import { initialize, meta } from './rpc.ts';

// Requests as broken, careless and hostile clients write them: right ones with some members
// replaced by anything.

const json = fc.jsonValue({ maxDepth: 2 });
const odd = fc.oneof(
  json,
  fc.constantFrom<unknown>(
    null,
    '',
    'text',
    '{}',
    '[]',
    '{"from":"2026-11-01"}',
    [],
    [1],
    {},
    0,
    -1,
    1e300,
    true,
    'x'.repeat(5000),
  ),
  fc.constantFrom<unknown>(
    { toString: 1, valueOf: 1 },
    { __proto__: null, constructor: 1 },
    { length: 1e9 },
    '\u0000',
    '%E0%A4%A',
    '\uD800',
  ),
);

const names = tools.map((tool) => tool.name);
const argumentNames = [...new Set(tools.flatMap((tool) => Object.keys(tool.input.shape)))];
const uris = [
  'calls://conditions',
  'calls://conditions/S1-0000001',
  'calls://conditions/%E0%A4%A',
  'calls://conditions/..%2F..',
  'calls://x',
];

const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 2, arbitrary: usual as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd });

const args = mostly(
  fc.dictionary(fc.oneof(fc.constantFrom(...argumentNames), fc.string()), odd, { maxKeys: 4 }),
);
const requests: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  initialize: fc.record(
    {
      protocolVersion: mostly(fc.constantFrom('2025-11-25', '2024-10-07')),
      capabilities: mostly(fc.constant({})),
      clientInfo: mostly(fc.constant({ name: 'fuzz', version: '1' })),
    },
    { requiredKeys: [] },
  ),
  ping: fc.constant({}),
  'tools/list': fc.record({ cursor: odd }, { requiredKeys: [] }),
  'tools/call': fc.record(
    { name: mostly(fc.constantFrom(...names)), arguments: args },
    { requiredKeys: ['name'] },
  ),
  'resources/list': fc.record({ cursor: odd }, { requiredKeys: [] }),
  'resources/templates/list': fc.constant({}),
  'resources/read': fc.record({ uri: mostly(fc.constantFrom(...uris)) }, { requiredKeys: [] }),
  'logging/setLevel': fc.record({ level: odd }, { requiredKeys: [] }),
  'server/discover': fc.constant({}),
  'no/such/method': odd,
};

interface Request {
  readonly method: string;
  readonly params: unknown;
}

const anyRequest: fc.Arbitrary<Request> = fc
  .tuple(fc.constantFrom(...Object.keys(requests)), odd, fc.nat(19))
  .chain(([method, wild, dice]) =>
    dice === 0
      ? fc.constant({ method, params: wild })
      : (requests[method] as fc.Arbitrary<unknown>).map((params) => ({ method, params })),
  );

interface Response {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/**
 * Sends requests of one family of revisions over stdio. Returns what is wrong with the responses.
 */
export async function fuzz(
  era: 'handshake' | 'stateless',
  count: number,
  seed: number,
): Promise<{ sent: number; faults: string[] }> {
  const input = new PassThrough();
  const waiting = new Map<unknown, (response: Response) => void>();
  const logged: string[] = [];
  const faults: string[] = [];
  const connection = serveStdio(
    createServer(fakeClient(fixtureCalls(40)), { log: (line) => logged.push(line) }),
    {
      input,
      write(line) {
        // Two messages on a line, or none, are no JSON.
        const response = JSON.parse(line) as Response;
        if (response.method === undefined) waiting.get(response.id)?.(response);
      },
      log: (line) => logged.push(line),
    },
  );

  const ask = (message: { readonly id: unknown }): Promise<Response> =>
    new Promise((resolve) => {
      waiting.set(message.id, resolve);
      input.write(`${JSON.stringify(message)}\n`);
    });

  if (era === 'handshake') {
    await ask(initialize('2025-11-25') as { id: unknown });
    input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  let sent = 0;
  const noise = fc.sample(odd, { numRuns: count, seed });
  for (const { method, params } of fc.sample(anyRequest, { numRuns: count, seed })) {
    input.write(`${JSON.stringify(noise[sent])}\n`);
    const id = `fuzz-${++sent}`;
    const isObject = typeof params === 'object' && params !== null && !Array.isArray(params);
    const full = era === 'stateless' && isObject ? { ...params, _meta: meta } : params;
    const response = await ask({ jsonrpc: '2.0', id, method, params: full } as { id: unknown });
    const what = `${method} ${JSON.stringify(full)?.slice(0, 200)}`;
    const { error, result } = response;
    if ((error === undefined) === (result === undefined))
      faults.push(`${what}: neither a result nor an error`);
    if (error?.code === -32603) faults.push(`${what}: internal error`);
    if (
      error &&
      (error.message.length > 700 || /^\s*[[{]|"code":|\n\s+at |invalid_type/.test(error.message))
    )
      faults.push(`${what}: ${error.message}`);
    // Wrong arguments: what is wrong and what is right, in one line or above a frame. Else what,
    // why and what next.
    const text = String((result?.content as { text?: unknown }[] | undefined)?.[0]?.text ?? '');
    if (result?.isError && !/\nWhy: [\s\S]+\nNext: |^[^\n]+[.?)}"]$|\n.*\^/.test(text))
      faults.push(`${what}: ${JSON.stringify(result)}`);
  }

  connection.close();
  return { sent, faults: [...faults, ...logged.map((line) => `logged: ${line}`)] };
}
