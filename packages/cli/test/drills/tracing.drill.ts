// The recipe of docs/observability.md with the real OpenTelemetry, over a sandbox.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { apiKeys, type Call, type Client, createClient } from '@call-attribution/core';
import { callTool, createServer } from '@call-attribution/mcp-server';
import { createCallStream, memoryState, syncCalls } from '@call-attribution/node-stream';
import { type Sandbox, type SandboxAccount, startSandbox } from '@call-attribution/sandbox';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

openDrill({
  name: 'tracing',
  kind: 'cut connections',
  what: 'Spans of OpenTelemetry by the recipe of the documentation: streams that succeed, fail and are left, syncs and tools',
  countTests: true,
});

interface Span {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number };
  readonly parentSpanContext?: { readonly spanId: string };
  readonly events: readonly unknown[];
  spanContext(): { readonly spanId: string };
}

const folder = mkdtempSync(join(tmpdir(), 'tracing-'));
const load = createRequire(join(folder, 'package.json'));
const failed = 2;
let sandbox: Sandbox;
let client: Client;
let keys: readonly string[] = [];
let exporter: { getFinishedSpans(): Span[]; reset(): void };

beforeAll(async () => {
  const names = ['@opentelemetry/api@1', '@opentelemetry/sdk-trace-node@2'];
  execFileSync('npm', [
    'install',
    '--no-audit',
    '--no-fund',
    '--silent',
    '--prefix',
    folder,
    ...names,
  ]);
  const { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } = load(
    '@opentelemetry/sdk-trace-node',
  );
  exporter = new InMemorySpanExporter();
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  const page = readFileSync(new URL('../../../../docs/observability.md', import.meta.url), 'utf8');
  const recipe = /^```javascript\n([\s\S]*?)^```$/m.exec(page)?.[1] as string;
  writeFileSync(join(folder, 'tracing.mjs'), recipe);
  await import(pathToFileURL(join(folder, 'tracing.mjs')).href);
  sandbox = await startSandbox({ records: 3_000 });
  const [{ accessKey, secretKey }] = sandbox.accounts as [SandboxAccount];
  keys = [accessKey, secretKey];
  client = createClient({
    baseUrl: sandbox.url,
    legacyBaseUrl: sandbox.url,
    auth: apiKeys(accessKey, secretKey),
  });
}, 300_000);

afterAll(async () => {
  await client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => exporter.reset());

/**
 * The spans that have ended, each with the names of those around it. No key and no number of a
 * caller is in them.
 */
function finished(callers: readonly string[]): { readonly span: Span; readonly path: string }[] {
  const all = exporter.getFinishedSpans();
  const byId = new Map(all.map((span) => [span.spanContext().spanId, span]));

  const pathOf = (span: Span): string => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? '');
    return `${parent ? `${pathOf(parent)} > ` : ''}${span.name}`;
  };

  const shown = JSON.stringify(
    all.map(({ name, attributes, events, status }) => [name, attributes, events, status]),
  );
  for (const secret of [...keys, ...callers]) expect(shown).not.toContain(secret);
  return all.map((span) => ({ span, path: pathOf(span) }));
}

test('each request of a stream is a span, with slices read at the same time', async () => {
  sandbox.faults.set('*', 'status=503, times=1');
  const calls: Call[] = await createCallStream(client, { rows: 100, prefetch: 8 }).toArray();
  sandbox.faults.clear();
  const spans = finished(calls.map(({ ani }) => ani).filter((ani) => ani.length > 4));
  expect(spans.length).toBeGreaterThan(20);
  const { hostname, port } = new URL(sandbox.url);
  for (const { span, path } of spans) {
    expect(path).toBe('GET');
    expect(span.status.code).not.toBe(failed);
    expect(span.attributes).toMatchObject({
      'http.request.method': 'GET',
      'server.address': hostname,
      'server.port': Number(port),
      'http.response.status_code': 200,
      'url.full': expect.stringContaining(`${sandbox.url}/v3/user/bid-management?`),
    });
  }

  expect(
    spans.filter(({ span }) => span.attributes['http.request.resend_count'] === 1),
  ).toHaveLength(1);
});

test('a failure of a stream is shown by its request', async () => {
  sandbox.faults.set('*', 'status=401');
  await expect(createCallStream(client).toArray()).rejects.toThrow();
  sandbox.faults.clear();
  const spans = finished([]);
  expect(spans.map(({ path }) => path)).toEqual(['GET']);
  expect(spans[0]?.span.status.code).toBe(failed);
  expect(spans[0]?.span.attributes).toMatchObject({
    'error.type': 'unauthorized',
    'http.response.status_code': 401,
  });
});

test('a lost connection has no status, and a number in a filter is not shown', async () => {
  sandbox.faults.set('*', 'reset');
  await expect(
    client.listCalls({ filter: 'ani:[16175550100 TO 16175550100]', retry: { attempts: 2 } }),
  ).rejects.toThrow();
  sandbox.faults.clear();
  const span = finished(['6175550100'])[0]?.span as Span;
  expect(span.attributes).toMatchObject({
    'error.type': expect.any(String),
    'http.request.resend_count': 1,
  });
  expect(span.attributes).not.toHaveProperty(['http.response.status_code']);
});

test('the requests of a sync are below the span of the program', async () => {
  const { context, trace } = load('@opentelemetry/api');
  const root = trace.getTracer('program').startSpan('program');
  await context.with(trace.setSpan(context.active(), root), async () => {
    for await (const _ of syncCalls(client, { state: memoryState(), rows: 1_000 }));
  });
  root.end();
  const paths = finished([]).map(({ path }) => path);
  expect(paths).toContain('program > GET');
});

test('requests are below the call of a tool, whose arguments are not shown', async () => {
  const server = createServer(client);
  await callTool(server, 'count_calls', {});
  expect((await callTool(server, 'list_calls', { zzz: '16175550100' })).isError).toBe(true);
  await server.close();
  const spans = finished(['6175550100']);
  expect(spans.map(({ path }) => path)).toContain('calls tool > GET');
  expect(spans.at(-1)?.span.attributes).toEqual({
    'calls.tool': 'list_calls',
    'error.type': 'unknown_argument',
  });
});
