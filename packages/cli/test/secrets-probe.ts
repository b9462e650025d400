// A program that reads its keys as `calls` does, fails in many ways, and keeps all the errors. Then
// it writes what a crash leaves on the disk: a diagnostic report and a heap snapshot.
import { writeFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { writeHeapSnapshot } from 'node:v8';
import { createClient } from '@call-attribution/core';
import { takeEnvironment } from '@call-attribution/core/environment';
import { createCallStream, syncInto } from '@call-attribution/node-stream';
import { connectionOf, readSettings } from '@call-attribution/settings';
import { openStore } from '@call-attribution/store';
import { explain } from '../src/failures.ts';
import { storeUrl } from '../src/stores/open.ts';

const env = takeEnvironment();
const settings = readSettings({ env });
const client = createClient({ ...connectionOf(settings), retry: { attempts: 2, baseDelay: 0 } });
const held: unknown[] = [];
(globalThis as { held?: unknown[] }).held = held;

const keep = async (work: () => Promise<unknown>): Promise<void> => {
  const error = await work().then(
    () => new Error('did not fail'),
    (thrown: unknown) => thrown,
  );
  held.push(error, explain(error));
};
// One for each trick of the server: see the test.
for (let trick = 0; trick < Number(env.TRICKS); trick += 1) {
  await keep(() => client.listCalls({ rows: 10 }));
  await keep(() => client.getCall('S1'));
  await keep(() => client.countCalls());
  await keep(() => client.listSmsNumbers());
  await keep(() => createCallStream(client).toArray());
  await keep(() =>
    syncInto(client, { load: async () => null, commit: async () => ({ added: 0, changed: 0 }) }),
  );
}
const io = { env, cwd: process.cwd() };
await keep(async () => (await openStore(storeUrl(String(env.STORE), io))).accounts());

// It shows that the search of the test finds what is there.
class LeakyError extends Error {
  override readonly name = 'LeakyError';
  readonly request = { headers: ['secret_key', settings.secret('secretKey')?.value] };
}

const folder = String(env.OUT);
writeFileSync(
  `${folder}/inspected.txt`,
  [
    ...held.map((error) => inspect(error, { depth: 20, showHidden: true })),
    ...held.map((error) => inspect(structuredClone(error), { depth: 20, showHidden: true })),
    JSON.stringify(held),
    inspect({ env, settings, client, process: process.env }, { depth: 20, showHidden: true }),
  ].join('\n'),
);
process.report.writeReport(`${folder}/report.json`, held[0] as Error);
await client.close();
held.push(new LeakyError());
writeHeapSnapshot(`${folder}/heap.heapsnapshot`);
