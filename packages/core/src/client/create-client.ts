import type { RecordProblem } from '../record/check-record.ts';
import { toCall } from '../record/to-call.ts';
import { isLoopback } from '../settings/loopback.ts';
import type { Client } from './client.ts';
import { countCalls } from './count-calls.ts';
import { reporter } from './events.ts';
import { getCall } from './get-call.ts';
import { listSmsNumbers } from './list-sms-numbers.ts';
import type { ClientOptions } from './options.ts';
import { fetchPage, listCalls } from './pages.ts';
import { readOptions } from './read-options.ts';
import { type Context, createRequests } from './request.ts';

/**
 * Makes a client of the API. Without `baseUrl` it reads the variables `CALLS_BASE_URL`,
 * `CALLS_ACCESS_KEY`, `CALLS_SECRET_KEY` and so on. Options are checked here, once; nothing is sent
 * until a method is called.
 *
 * @example
 * const client = createClient(); // or createClient({ baseUrl: 'https://api.example.com', auth:
 * apiKeys(access, secret) }) for await (const call of client.listCalls({ filter: 'talk_minutes:[5
 * TO *]' })) console.log(call.sid); await client.close(); // or declare it with "await using"
 */
export function createClient(options: ClientOptions = {}): Client {
  const settings = readOptions(options);
  const { base, records, version } = settings;
  const client: Client = {
    version,
    baseUrl: base.origin + base.prefix,
    get only() {
      return context.requests.only;
    },
    listCalls: (query = {}) => listCalls(context, query),
    getCall: (sid, given = {}) => getCall(context, sid, given),
    countCalls: (query = {}) => countCalls(context, query),
    listSmsNumbers: (given = {}) => listSmsNumbers(context, given),
    fetchPage: (query = {}) => fetchPage(context, query),
    close: () => context.requests.close(),
    [Symbol.asyncDispose]: () => context.requests.close(),
  };
  const report = reporter(client, settings);
  const mode = {
    records,
    onProblem: (problem: RecordProblem) => report({ type: 'record', ...problem }),
  };
  const context: Context = {
    settings,
    requests: createRequests(client, settings),
    report,
    adapt: (record) => toCall(record, version, mode),
  };
  if (base.origin.startsWith('http:') && !isLoopback(new URL(base.origin).hostname))
    report({ type: 'plain_http', origin: base.origin });
  return client;
}
