import type { Server, ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
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

const anything = { params: z.looseObject({}) };

/** What the SDK takes out of the parameters of a request that is sent again with more input. */
const withInputs = (params: Record<string, unknown>, { mcpReq }: ServerContext) => {
  const state = mcpReq.requestState();
  return {
    ...params,
    ...(mcpReq.inputResponses === undefined ? {} : { inputResponses: mcpReq.inputResponses }),
    ...(state === undefined ? {} : { requestState: state }),
  };
};

function contextOf(server: Server, { mcpReq }: ServerContext, isStateless: boolean): RequestContext {
  const token = mcpReq._meta?.progressToken;
  const declared: unknown = isStateless
    ? Object.entries(mcpReq.envelope ?? {}).find(([key]) => key.endsWith('/clientCapabilities'))?.[1]
    : server.getClientCapabilities();
  return {
    signal: mcpReq.signal,
    notify: (method, params) => void mcpReq.notify({ method, params }),
    clientCapabilities: { ...(declared as object) },
    ...(token === undefined ? {} : { progressToken: token }),
  };
}

function connect(isStateless: boolean): Server {
  const logging = isStateless ? {} : { logging: {}, resources: { subscribe: true } };
  const server = buildSdkServer(
    { ...everything, capabilities: { ...everything.capabilities, ...logging } },
    isStateless,
  );
  for (const method of isStateless ? [] : ['resources/subscribe', 'resources/unsubscribe'])
    server.setRequestHandler(method, anything, async () => ({}));
  for (const method of ['tools/call', 'prompts/get']) {
    const handle = everything.handlers[method] as NonNullable<(typeof everything.handlers)[string]>;
    server.setRequestHandler(method, anything, async (params, context) => {
      const run = asking[String(params.name)];
      if (isStateless || method === 'prompts/get' || !run)
        return handle(withInputs(params, context), contextOf(server, context, isStateless));
      const ask: Ask = (name, more) =>
        context.mcpReq.send({ method: name, params: { ...more } }, z.looseObject({}));
      return { content: [text(await run(ask, { ...(params.arguments as object) }))] };
    });
  }
  return server;
}

/** The fixture as this package's own transports serve it. */
export const everythingServer: ProtocolServer = {
  definition: everything,
  factory: ({ era }) => connect(era === 'modern'),
};
