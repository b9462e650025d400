import { fakeApi } from '@call-attribution/core/testing';
import { readSettings } from '@call-attribution/settings';
import { openDrill } from '@call-attribution/test-tools/drill';
import { expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { clientFrom } from '../../src/program.ts';

const stalled = openDrill({
  name: 'stalled-api',
  kind: 'cut connections',
  what: 'The API accepts requests and says nothing; an assistant gets advice for its user within ten seconds',
});

it('an API that says nothing is reported within ten seconds', () =>
  stalled.run(async () => {
    const hostile = await fakeApi({ calls: [], faults: () => ({ silent: true }) }).listen();
    const env = { CALLS_BASE_URL: hostile.url, CALLS_ACCESS_KEY: 'a', CALLS_SECRET_KEY: 'b' };
    const client = clientFrom(readSettings({ env }));
    const started = performance.now();
    const result = await callTool(createServer(client), 'count_calls');
    expect(performance.now() - started).toBeLessThan(15_000); // Ten seconds, and a busy machine.
    expect(result.content[0]?.text).toMatch(
      /^Next: Tell the user that the API does not respond right now\./m,
    );
    await client.close();
    await hostile.close();
  }));
