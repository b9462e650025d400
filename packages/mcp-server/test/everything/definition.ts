import { setTimeout as wait } from 'node:timers/promises';
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import * as content from './content.ts';
import { type RequestContext, roundPrompt, roundTools } from './rounds.ts';

const noArguments = { type: 'object', properties: {} };

const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

async function withProgress({ progressToken, notify }: RequestContext) {
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined) {
      notify('notifications/progress', { progressToken, progress, total: 100 });
    }
    await wait(10);
  }
  return { content: [content.text('Done.')] };
}

async function withLogging({ notify }: RequestContext) {
  for (const data of [
    'Tool execution started',
    'Tool processing data',
    'Tool execution completed',
  ]) {
    notify('notifications/message', { level: 'info', data });
    await wait(10);
  }
  return { content: [content.text('Logged.')] };
}

const runTools: Record<string, (context: RequestContext) => Promise<Record<string, unknown>>> = {
  test_tool_with_progress: withProgress,
  test_tool_with_logging: withLogging,
};

function listTools(names: readonly string[]) {
  return [
    ...names.map((name) => ({
      name,
      description: `Conformance fixture ${name}`,
      inputSchema: noArguments,
    })),
    {
      name: 'json_schema_2020_12_tool',
      description: 'Keywords of JSON Schema 2020-12',
      inputSchema: schema2020,
    },
  ];
}

type Params = Record<string, unknown>;
type Handler = (params: Params, context: RequestContext) => object;

const handlers: Readonly<Record<string, Handler>> = {
  'tools/list': () => ({
    tools: listTools([content.fixedTools, runTools, roundTools].flatMap(Object.keys).sort()),
  }),
  'tools/call'(params, context) {
    const name = String(params.name);
    const run = runTools[name];
    if (run) return run(context);
    const found = roundTools[name]?.(params, context) ?? content.fixedTools[name];
    if (found) return { ...found };
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
  },
  'prompts/list': () => ({
    prompts: [
      ...content.prompts,
      { name: 'test_input_required_result_prompt', description: 'A prompt that asks back' },
    ],
  }),
  'prompts/get'(params) {
    if (params.name === 'test_input_required_result_prompt') return { ...roundPrompt(params) };
    const messages = content.promptMessages(params.name, (params.arguments ?? {}) as Params);
    if (messages) return { messages };
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown prompt: ${String(params.name)}`,
    );
  },
  'resources/list': () => ({ resources: content.resources }),
  'resources/templates/list': () => ({ resourceTemplates: content.resourceTemplates }),
  'resources/read'(params) {
    const found = content.resourceContents(String(params.uri));
    if (!found) throw new ResourceNotFoundError(String(params.uri));
    return { contents: [found] };
  },
  'completion/complete': () => ({
    completion: { values: ['one', 'two'], total: 2, hasMore: false },
  }),
};

const hint = { ttlMs: 1000, cacheScope: 'private' as const };

/**
 * Everything the conformance suite asks of a server: the SDK's own, which this package's transports
 * serve.
 */
export function everything(era: 'legacy' | 'modern'): Server {
  const isStateless = era === 'modern';
  const server = new Server(
    { name: 'everything', title: 'Conformance fixture', version: '1.0.0' },
    {
      instructions: 'A server for the conformance suite.',
      capabilities: {
        tools: {},
        prompts: {},
        completions: {},
        resources: isStateless ? {} : { subscribe: true },
        ...(isStateless ? {} : { logging: {} }),
      },
      cacheHints: {
        'server/discover': hint,
        'tools/list': hint,
        'prompts/list': hint,
        'resources/list': hint,
        'resources/templates/list': hint,
        'resources/read': hint,
      },
    },
  );

  const contextOf = ({ mcpReq }: ServerContext): RequestContext => ({
    clientCapabilities: {
      ...((isStateless
        ? Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY)
        : server.getClientCapabilities()) as object),
    },
    progressToken: mcpReq._meta?.progressToken,
    notify: (method, params) => void mcpReq.notify({ method, params }),
  });

  const anything = { params: z.looseObject({}) };
  for (const [method, handle] of Object.entries(handlers))
    server.setRequestHandler(method, anything, async (params, context) => {
      const state = context.mcpReq.requestState();
      const { inputResponses } = context.mcpReq;
      const inputs = inputResponses === undefined ? {} : { inputResponses };
      const all = { ...params, ...inputs, ...(state === undefined ? {} : { requestState: state }) };
      return { ...(await handle(all, contextOf(context))) };
    });

  for (const method of isStateless ? [] : ['resources/subscribe', 'resources/unsubscribe'])
    server.setRequestHandler(method, anything, async () => ({}));
  return server;
}
