// Serves calls with Bun or Deno, as the README says: prints where, and what was logged once the
// process is told to end.
import { fixtureCalls } from '@call-attribution/core/testing';
import { createService } from '@call-attribution/service';
import { openStore } from '@call-attribution/store';

const store = await openStore('sqlite::memory:');
/** @type {object[]} */
const log = [];
const service = createService({
  store,
  accounts: [
    {
      id: '101',
      name: 'One',
      accessKey: 'an_access',
      secretKey: 'a_secret',
      bearerToken: 'a_bearer',
    },
  ],
  drainTimeout: 300,
  log: (entry) => log.push(entry),
});
await store.putAccount({ id: '101', name: 'One' });
await store.upsert('101', fixtureCalls(2_000));
const at = { port: 0, hostname: '127.0.0.1' };
const [bun, deno] = ['Bun', 'Deno'].map((name) => Reflect.get(globalThis, name));
const server = bun
  ? bun.serve({ ...at, fetch: service.fetch })
  : deno.serve({ ...at, onListen() {} }, service.fetch);
process.stdout.write(`${server.port ?? server.addr.port}\n`);
process.stdin.on('data', async () => {
  await service.close();
  const refused = await service.fetch(new Request('http://localhost/v2/user/bid-management'));
  process.stdout.write(`${JSON.stringify({ afterwards: refused.status, log })}\n`);
  process.exit(0);
});
