import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { RequestContext } from '../../src/protocol/definition.ts';
import { buildSdkServer, type ProtocolServer } from '../../src/protocol/sdk-server.ts';
import { text } from './content.ts';
import { everything } from './definition.ts';

type Ask = (method: string, params: object) => Promise<Record<string, unknown>>;

const object = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });
const options = (...names: string[]) => names.map((name) => ({ const: name, title: `Title of ${name}` }));

const defaults = object({
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
});

const enums = object({
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: options('value1', 'value2', 'value3') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: options('value1', 'value2', 'value3') } },
});

const person = object(
  {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  ['username', 'email'],
);

async function elicit(ask: Ask, message: string, requestedSchema: object): Promise<string> {
  const answer = await ask('elicitation/create', { message, requestedSchema });
  return `action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`;
}

const asking: Record<string, (ask: Ask, args: Record<string, unknown>) => Promise<string>> = {
  async test_sampling(ask, { prompt }) {
    const messages = [{ role: 'user', content: text(String(prompt)) }];
    const answer = await ask('sampling/createMessage', { messages, maxTokens: 100 });
    return `LLM response: ${(answer.content as { text?: string }).text}`;
  },
  test_elicitation: async (ask, { message }) =>
    `User response: ${await elicit(ask, String(message), person)}`,
  test_elicitation_sep1034_defaults: async (ask) =>
    `Elicitation completed: ${await elicit(ask, 'Please review', defaults)}`,
  test_elicitation_sep1330_enums: async (ask) =>
    `Elicitation completed: ${await elicit(ask, 'Please choose', enums)}`,
};

function connect(): Server {
  const server = buildSdkServer({
    ...everything,
    capabilities: { ...everything.capabilities, logging: {}, resources: { subscribe: true } },
  });
  server.setRequestHandler(SubscribeRequestSchema, async () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, async () => ({}));
  const call = everything.handlers['tools/call'] as NonNullable<(typeof everything.handlers)[string]>;
  server.setRequestHandler(CallToolRequestSchema, async (request, extra) => {
    const run = asking[request.params.name];
    if (!run) {
      const token = request.params._meta?.progressToken;
      const context: RequestContext = {
        signal: extra.signal,
        notify: (method, params) => void extra.sendNotification({ method, params } as never),
        clientCapabilities: server.getClientCapabilities() ?? {},
        ...(token === undefined ? {} : { progressToken: token }),
      };
      return call(request.params, context);
    }
    const ask: Ask = (method, params) => {
      const schema = method === 'elicitation/create' ? ElicitResultSchema : CreateMessageResultSchema;
      return extra.sendRequest({ method, params } as never, schema as typeof ElicitResultSchema);
    };
    return { content: [text(await run(ask, request.params.arguments ?? {}))] };
  });
  return server;
}

/** The fixture as this package's own transports serve it. */
export const everythingServer: ProtocolServer = { definition: everything, connect };
