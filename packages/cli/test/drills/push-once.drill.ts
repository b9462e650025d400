import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { testStores } from '@call-attribution/test-tools';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, describe, expect, test } from 'vitest';
import { openOwnStage } from '../stage.ts';

const drill = openDrill({
  name: 'push-once',
  kind: 'kills',
  what: 'A push is killed at each step, while a second one with the same ledger tries to start; the tool gets each conversion once',
  countTests: true,
});

const stage = await openOwnStage({ records: 200, days: 20, to: '2026-11-21 07:00:00' });
const now = new Date('2026-11-21T12:00:00Z');

/**
 * Where the first push is when it is killed: it waits for the API, for a token, for the answer; or
 * it has just got that.
 */
const steps = ['reading', 'noted', 'sent', 'answered'] as const;
type Step = (typeof steps)[number];

/** The tool, which leaves the request of a step without an answer. */
const tool = {
  bodies: [] as string[],
  stopsAt: null as Step | null,
  reached: () => {},
};
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const reply = (json: object) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(json));
  const isToken = request.url === '/token';
  const isSending = request.url === '/v1/events:ingest';
  if (isSending) tool.bodies.push(body);
  const step = tool.stopsAt;
  if (step === 'reading' || (step === 'noted' && isToken) || (step === 'sent' && isSending)) {
    // Only the first push waits: a second one that should not have come so far would be answered.
    tool.stopsAt = null;
    return tool.reached();
  }

  reply(
    isToken
      ? { access_token: 'token', expires_in: 3600 }
      : { requestId: `request-${tool.bodies.length}` },
  );
  if (step === 'answered' && isSending) tool.reached();
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await stage.close();
});

const key = join(stage.folder(), 'key.json');
const user = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' };
writeFileSync(key, JSON.stringify({ ...user, token_uri: `${endpoint}/token` }));
const env = { CALLS_PUSH_ENDPOINT: endpoint, GOOGLE_APPLICATION_CREDENTIALS: key };

const ledgers = [
  { kind: 'file', newUrl: async () => join(stage.folder(), 'push.ledger') },
  ...testStores(),
];

describe.each(ledgers)('a ledger in $kind', ({ newUrl }) => {
  test.each(steps)('the first push is killed at the step "%s"', async (step) => {
    const args = ['push', 'google', '--customer', '123-456-7890', '--conversion-action', '987'];
    args.push('--from', '30d', '--value', '25USD', '--ledger', await newUrl());
    const again = () => stage.quick(args, { env, now });
    tool.bodies.length = 0;
    tool.stopsAt = step;
    const isReached = new Promise<void>((resolve) => {
      tool.reached = () => resolve();
    });
    let pid: number | undefined;
    let kill = () => {};
    const first = stage.calls(args, {
      env: { ...env, ...(step === 'reading' ? { CALLS_BASE_URL: endpoint } : {}) },
      started(child) {
        pid = child.pid;
        kill = () => child.kill('SIGKILL');
      },
    });
    if (step === 'answered') tool.reached = () => kill();
    else {
      await isReached;
      const { length } = tool.bodies;
      const second = await again();
      expect(second).toMatchObject({ code: 8, stdout: '' });
      expect(second.stderr).toContain(`Process ${pid} on ${hostname()} `);
      expect(tool.bodies).toHaveLength(length);
      kill();
    }

    await first;
    drill.happened('kills');
    tool.stopsAt = null;

    const third = await again();
    expect(third).toMatchObject({ code: 0 });
    const fourth = await again();
    expect(fourth.code).toBe(0);
    expect(fourth.stderr).toContain('sent: 0 new, 0 corrected, 0 taken back');

    // What was sent twice was sent as it was.
    const different = [...new Set(tool.bodies)];
    expect(tool.bodies.length - different.length).toBe(
      step === 'sent' ? 1 : tool.bodies.length - 1,
    );
    const ids = different.flatMap((body) =>
      (JSON.parse(body) as { events: { transactionId: string }[] }).events.map(
        ({ transactionId }) => transactionId,
      ),
    );
    expect(ids.length).toBeGreaterThan(10);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
