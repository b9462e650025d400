import { setTimeout as wait } from 'node:timers/promises';
import type { RequestContext, ServerDefinition } from '../../src/protocol/definition.ts';
import { RpcError, rpcCodes } from '../../src/protocol/messages.ts';
import * as content from './content.ts';
import { roundPrompt, roundTools } from './rounds.ts';

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
  for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
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
    ...names.map((name) => ({ name, description: `Conformance fixture ${name}`, inputSchema: noArguments })),
    {
      name: 'json_schema_2020_12_tool',
      description: 'Keywords of JSON Schema 2020-12',
      inputSchema: schema2020,
    },
  ];
}

/** Everything the conformance suite asks of a server, on this package's own front. */
export const everything: ServerDefinition = {
  info: { name: 'everything', title: 'Conformance fixture', version: '1.0.0' },
  instructions: 'A server for the conformance suite.',
  capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  privateResults: ['resources/read'],
  handlers: {
    'tools/list': async () => ({
      tools: listTools([content.fixedTools, runTools, roundTools].flatMap(Object.keys).sort()),
    }),
    async 'tools/call'(params, context) {
      const name = String(params.name);
      const run = runTools[name];
      const round = roundTools[name];
      if (run) return run(context);
      if (round) return { ...round(params, context) };
      const fixed = content.fixedTools[name];
      if (fixed) return fixed;
      throw new RpcError(rpcCodes.invalidParams, `Unknown tool: ${name}`);
    },
    'prompts/list': async () => ({
      prompts: [
        ...content.prompts,
        { name: 'test_input_required_result_prompt', description: 'A prompt that asks back' },
      ],
    }),
    async 'prompts/get'(params) {
      if (params.name === 'test_input_required_result_prompt') return { ...roundPrompt(params) };
      const messages = content.promptMessages(
        params.name,
        (params.arguments ?? {}) as Record<string, unknown>,
      );
      if (!messages) throw new RpcError(rpcCodes.invalidParams, `Unknown prompt: ${String(params.name)}`);
      return { messages };
    },
    'resources/list': async () => ({ resources: content.resources }),
    'resources/templates/list': async () => ({ resourceTemplates: content.resourceTemplates }),
    async 'resources/read'(params) {
      const found = content.resourceContents(String(params.uri));
      if (!found) throw new RpcError(rpcCodes.resourceNotFound, 'Resource not found', { uri: params.uri });
      return { contents: [found] };
    },
    'completion/complete': async () => ({ completion: { values: ['one', 'two'], total: 2, hasMore: false } }),
  },
};
