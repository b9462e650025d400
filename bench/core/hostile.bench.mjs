// The same misbehaving server against core and against the transports of three SDKs: what comes of
// each fault. "ok" is the right records; "error" a rejection, with its name; "GARBAGE" something
// else handed over as if it were the answer; "not noticed" the records, but no word that type, page
// or number are wrong; "HANGS" nothing after three seconds, although a timeout of 300 ms was set
// where the SDK has one.
import { apiKeys, createClient } from '@call-attribution/core';
import { fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { Octokit } from 'octokit';
import OpenAI from 'openai';
import Stripe from 'stripe';

const limit = 3000;
const calls = fixtureCalls(20);
const expected = JSON.stringify(calls);
const path = '/v3/user/bid-management?rows=250';

const makers = {
  core({ url }, key) {
    const client = createClient({
      baseUrl: url,
      auth: apiKeys(key, key),
      timeout: { idle: 300, attempt: 1000, total: 2500 },
      retry: { attempts: 3, baseDelay: 20 },
    });
    return async () => (await client.listCalls({ rows: 250 })).records;
  },
  openai({ url }, key) {
    const client = new OpenAI({
      baseURL: url,
      apiKey: key,
      timeout: 300,
      maxRetries: 2,
      logLevel: 'off',
    });
    return () => client.get(path);
  },
  stripe({ url }, key) {
    const { hostname, port } = new URL(url);
    const client = new Stripe(key, {
      host: hostname,
      port,
      protocol: 'http',
      timeout: 300,
      maxNetworkRetries: 2,
      telemetry: false,
    });
    return async () => {
      const { lastResponse: _, ...value } = await client.rawRequest('GET', path);
      const isList = Object.keys(value).every((k) => /^\d+$/.test(k));
      return isList ? Object.values(value) : value;
    };
  },
  octokit({ url }, key) {
    const silent = { debug() {}, info() {}, warn() {}, error() {} };
    const client = new Octokit({
      baseUrl: url,
      auth: key,
      log: silent,
      throttle: { enabled: false },
    });
    return async () => (await client.request(`GET ${path}`)).data;
  },
};

const always = (fault) => Array(10).fill(fault);
const rows = [
  ['a good answer', []],
  ['connection reset, then fine', [{ reset: true }]],
  ['503, then fine', [{ status: 503 }]],
  ['429 with Retry-After 0, then fine', [{ status: 429, retryAfter: '0' }]],
  ['429, come back in an hour', always({ status: 429, retryAfter: '3600' })],
  ['body cut by a closed connection, then fine', [{ cut: 0.5 }]],
  ['body cut by a closed connection, always', always({ cut: 0.5 })],
  ['JSON cut, length as declared', always({ quietCut: 0.5 })],
  ['body stalls, then fine', [{ stall: 0.5 }]],
  ['body stalls, always', always({ stall: 0.5 })],
  ['login page with status 200', always({ html: true })],
  ['{ "error": ... } with status 200', always({ errorBody: 'invalid session' })],
  ['right body as text/csv', always({ contentType: 'text/csv' })],
  ['broken UTF-8 in a name', always({ brokenUtf8: true })],
  ['packed body cut inside', always({ encoding: 'cut-gzip' })],
  ['another page than asked for', always({ range: 'other-page' })],
  ['fewer records than Content-Range tells', always({ range: 'too-long' })],
  ['redirect to another server', 'redirect'],
  ['key with a line break', 'key'],
];

async function outcome(make, fault) {
  const server = await fakeApi({ calls: [...calls] }).listen();
  const other = await fakeApi({ calls: [...calls] }).listen();
  const key = fault === 'key' ? 'sk_LEAK\n2' : 'sk_test_1';
  const answers = fault === 'redirect' ? always({ redirect: `${other.url}${path}` }) : fault;
  if (Array.isArray(answers)) server.next(...answers);
  let timer;
  try {
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, limit, 'HANGS');
    });
    const work = (async () => make(server, key)())();
    const done = await Promise.race([work.then((value) => ({ value })), late]);
    if (done === 'HANGS') return 'HANGS';
    if (fault === 'redirect') return sentOn(other);
    if (JSON.stringify(done.value) !== expected) return 'GARBAGE';
    return fault === 'key' ? 'ok' : goodOr(fault);
  } catch (error) {
    const leak = `${error?.stack}${error?.message}`.includes('LEAK') ? ', LEAKS THE KEY' : '';
    const name = error?.constructor?.name ?? 'unknown';
    return `error ${name}${error?.code && typeof error.code === 'string' ? ` ${error.code}` : ''}${leak}`;
  } finally {
    clearTimeout(timer);
    await server.close();
    await other.close();
  }
}

/** Records that look right although every page was the wrong one are not a good result. */
const goodOr = (fault) => (fault.length > 1 ? 'not noticed' : 'ok');

function sentOn(other) {
  if (other.requests.length === 0) return 'ok';
  const { headers } = other.requests[0];
  return headers.authorization || headers.access_key
    ? 'FOLLOWS WITH KEYS'
    : 'follows, without keys';
}

process.on('unhandledRejection', () => {});
const names = Object.keys(makers);
console.log(`| fault | ${names.join(' | ')} |\n|---|${names.map(() => '---|').join('')}`);
for (const [name, fault] of rows) {
  const cells = [];
  for (const make of Object.values(makers)) cells.push(await outcome(make, fault));
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
process.exit(0);
