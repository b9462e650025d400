import { PassThrough } from 'node:stream';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { createServer, serveStdio } from '../src/index.ts';
import { fakeClient } from './support/fake-client.ts';
import { plain, send, stateless, useEndpoint } from './support/http.ts';
import { initialize, meta, rpc } from './support/rpc.ts';

const { start } = useEndpoint();

const number = '+16175550123';
const call = (params: object) =>
  rpc('tools/call', { name: 'list_calls', arguments: { caller: number }, ...params });

/** What hosts and attackers send that no client library can match with a response. */
const malformed: readonly (readonly [string, object, unknown])[] = [
  ['_meta null', call({ _meta: null }), 1],
  ['_meta that is a string', call({ _meta: number }), 1],
  ['_meta that is a list', call({ _meta: [number] }), 1],
  ...[null, 1.5, true, {}].map(
    (progressToken) =>
      [
        `progressToken ${JSON.stringify(progressToken)}`,
        call({ _meta: { progressToken } }),
        1,
      ] as const,
  ),
  ['another member', { ...call({}), caller: number }, 1],
  ['a result and a method', { ...call({}), result: {} }, 1],
  ...[2 ** 53, 1.5, null, true, {}].map(
    (id) => [`the id ${JSON.stringify(id)}`, { ...call({}), id }, null] as const,
  ),
  ...[null, [number], number].map(
    (params) => [`params ${JSON.stringify(params)}`, { ...call({}), params }, 1] as const,
  ),
  ['another version of JSON-RPC', { ...call({}), jsonrpc: '1.0' }, 1],
  ['no method', { jsonrpc: '2.0', id: 1 }, 1],
];

/** What a connection over stdio writes and logs for some messages. */
async function overStdio(messages: readonly object[]) {
  const input = new PassThrough();
  const out: { id?: unknown; error?: { code: number }; result?: object }[] = [];
  const log: string[] = [];
  const connection = serveStdio(createServer(fakeClient(fixtureCalls(3))), {
    input,
    write: (line) => out.push(JSON.parse(line)),
    log: (line) => log.push(line),
  });
  for (const each of messages) input.write(`${JSON.stringify(each)}\n`);
  input.end();
  await connection.closed;
  return { out, log: log.join() };
}

describe('a malformed message', () => {
  it.each(malformed)('over HTTP with %s is refused at once', async (_what, body, id) => {
    const url = await start();
    for (const headers of [plain, stateless('tools/call', { 'mcp-name': 'list_calls' })]) {
      const response = await send(url, { headers, body });
      expect(response.status).toBe(400);
      expect(response.json).toMatchObject({ id, error: { code: -32600 } });
    }
  });

  it('over HTTP is refused in 200 copies at a time, and none is held', async () => {
    const url = await start();
    const sent = Array.from({ length: 200 }, (_, i) =>
      send(url, { headers: plain, body: malformed[i % malformed.length]?.[1] }),
    );
    expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([400]));
  });

  it.each(malformed)(
    'over stdio with %s is refused, and the log has none of it',
    async (_what, body, id) => {
      const { out, log } = await overStdio([
        initialize('2025-11-25', 'first'),
        body,
        rpc('ping', {}, 'last'),
      ]);
      const refusal = out.find(({ error }) => error !== undefined);
      expect(refusal).toMatchObject({ id, error: { code: -32600 } });
      expect(out.filter(({ result }) => result).map((each) => each.id)).toEqual(['first', 'last']);
      expect(log + JSON.stringify(refusal)).not.toContain(number.slice(1));
    },
  );

  it.each<[string, object]>([
    ['a notification nobody knows', { method: `x/${number}` }],
    ['a response to nothing', { id: 77, result: { caller: number } }],
    [
      'progress of nothing',
      { method: 'notifications/progress', params: { progressToken: number, progress: 1 } },
    ],
    [
      'a cancellation of another form',
      { method: 'notifications/cancelled', params: { requestId: { number } } },
    ],
  ])('such as %s is never quoted in the log', async (_what, message) => {
    for (const first of [initialize(), rpc('tools/list', { _meta: meta })]) {
      const { log } = await overStdio([
        first,
        { jsonrpc: '2.0', ...message },
        rpc('ping', {}, 'last'),
      ]);
      expect(log).not.toContain(number.slice(1));
    }
  });

  it('of the handshake gets a sentence, not a dump of a schema', async () => {
    const { json } = await send(await start(), {
      headers: plain,
      body: rpc('initialize', { capabilities: 7 }),
    });
    expect(json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32602,
        message:
          'Invalid params: they do not have the form that the protocol names for this method.',
      },
    });
  });

  it.each([[[initialize()]], [[rpc('ping'), initialize('2025-03-26', 2)]]])(
    'is a batch that contains initialize (%#)',
    async (body) => {
      const response = await send(await start(), { headers: plain, body });
      expect(response.status).toBe(400);
      expect(response.json).toMatchObject({ error: { code: -32600 } });
    },
  );

  it('is a tool that does not exist: an error of the protocol, with the nearest name', async () => {
    const url = await start();
    const params = { name: 'list_cals', arguments: {} };
    for (const [headers, body] of [
      [plain, rpc('tools/call', params)],
      [
        stateless('tools/call', { 'mcp-name': 'list_cals' }),
        rpc('tools/call', { ...params, _meta: meta }),
      ],
    ] as const) {
      const { json } = await send(url, { headers, body });
      expect(json).toMatchObject({
        error: { code: -32602, message: expect.stringContaining('Did you mean list_calls?') },
      });
    }
  });

  it('is a body of 5 MB, whose sender can read the refusal', async () => {
    const url = await start();
    const body = `{"x":"${'x'.repeat(5_000_000)}"}`;
    for (const headers of [plain, { ...plain, 'transfer-encoding': 'chunked' }])
      expect((await send(url, { headers, body })).status).toBe(413);
  });
});
