// Lists calls through the proxies of the environment: `proxied.mjs <url>`. Prints as JSON what
// came, or what the error shows.
import process from 'node:process';
import { inspect } from 'node:util';
import { apiKeys, createClient } from '@call-attribution/core';

const client = createClient({
  baseUrl: process.argv[2],
  auth: apiKeys('test_access_101', 'test_secret_101'),
  timeout: { connect: 1_000, idle: 10_000 },
  retry: { attempts: 2, baseDelay: 1 },
});
/** @type {Record<string, unknown>} */
const result = {};
try {
  let calls = 0;
  for await (const _ of client.listCalls({ filter: 'inc_gce:1', rows: 100 })) calls += 1;
  result.calls = calls;
} catch (error) {
  const { code, limit, status, attempts, message } =
    /** @type {import('@call-attribution/core').CallsError} */ (error);
  Object.assign(result, { code, limit, status, attempts, message });
  result.shown = [
    String(error),
    JSON.stringify(error),
    inspect(error, { depth: 9, showHidden: true }),
  ].join('\n');
}
const started = Date.now();
await client.close();
result.closedInMs = Date.now() - started;
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit();
