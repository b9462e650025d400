import { toCall } from '../record/to-call.ts';
import { isLoopback } from './address.ts';
import type { Client } from './client.ts';
import type { ClientOptions } from './client-options.ts';
import type { Context } from './context.ts';
import { countCalls } from './count-calls.ts';
import { createEngine } from './engine.ts';
import { fetchPage } from './fetch-page.ts';
import { getCall } from './get-call.ts';
import { listCalls } from './list-calls.ts';
import { listSmsNumbers } from './list-sms-numbers.ts';
import { calls, pages } from './pages.ts';
import { readOptions } from './read-options.ts';
import { createReporter } from './reporter.ts';
import { createRequests } from './requests.ts';

/**
 * A client of the API. Everything that can be wrong with the options is said here, before anything is sent; the
 * options are read once.
 */
export function createClient(options: ClientOptions): Client {
  const settings = readOptions(options);
  const { base, version, records } = settings;
  const reporter = createReporter(settings.onReport);
  const toCallOptions = { records, onProblem: reporter.onProblem };
  const context: Context = {
    settings,
    reporter,
    engine: createEngine(settings),
    requests: createRequests(settings),
    adapt: (record) => toCall(record, version, toCallOptions),
  };
  if (base.origin.startsWith('http:') && !isLoopback(new URL(base.origin).hostname))
    reporter.tell({ type: 'plain_http', origin: base.origin });
  return {
    version,
    baseUrl: base.origin + base.prefix,
    listCalls: (query = {}) => listCalls(context, query),
    pages: (query = {}) => pages(context, query),
    calls: (query = {}) => calls(context, query),
    getCall: (sid, given = {}) => getCall(context, sid, given),
    countCalls: (query = {}) => countCalls(context, query),
    listSmsNumbers: (given = {}) => listSmsNumbers(context, given),
    fetchPage: (query = {}) => fetchPage(context, query),
    close: () => context.engine.close(),
  };
}
