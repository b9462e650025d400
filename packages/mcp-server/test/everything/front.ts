import type { Server, ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { RequestContext } from '../../src/protocol/definition.ts';
import { buildSdkServer, type ProtocolServer } from '../../src/protocol/sdk-server.ts';
import { everything } from './definition.ts';

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
    server.setRequestHandler(method, anything, (params, context) =>
      handle(withInputs(params, context), contextOf(server, context, isStateless)),
    );
  }
  return server;
}

/** The fixture as this package's own transports serve it. */
export const everythingServer: ProtocolServer = {
  definition: everything,
  factory: ({ era }) => connect(era === 'modern'),
};
