import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { RequestContext, ServerDefinition } from './definition.ts';
import { toRpcFailure } from './messages.ts';

const schemas = {
  'tools/list': ListToolsRequestSchema,
  'tools/call': CallToolRequestSchema,
  'resources/list': ListResourcesRequestSchema,
  'resources/templates/list': ListResourceTemplatesRequestSchema,
  'resources/read': ReadResourceRequestSchema,
  'prompts/list': ListPromptsRequestSchema,
  'prompts/get': GetPromptRequestSchema,
  'completion/complete': CompleteRequestSchema,
} as const;

// The SDK would build a JSON Schema compiler for each server, only to validate what users enter (elicitation).
// This server requests no input from users, so it needs none.
const noElicitation = {
  getValidator() {
    return () => ({
      valid: false as const,
      data: undefined,
      errorMessage: 'This server does not elicit input.',
    });
  },
};

/** Makes an SDK server over the handlers of a definition, for the revisions that begin with `initialize`. */
export function buildSdkServer(definition: ServerDefinition): Server {
  const server = new Server(definition.info, {
    capabilities: definition.capabilities,
    jsonSchemaValidator: noElicitation,
    ...(definition.instructions === undefined ? {} : { instructions: definition.instructions }),
  });
  for (const [method, schema] of Object.entries(schemas)) {
    const handler = definition.handlers[method];
    if (!handler) continue;
    server.setRequestHandler(schema as typeof CallToolRequestSchema, async (request, extra) => {
      const token = request.params?._meta?.progressToken;
      const context: RequestContext = {
        signal: extra.signal,
        notify(method, params) {
          // A client that disconnects between two notifications must not fail the call.
          extra.sendNotification({ method, params } as never).catch(() => undefined);
        },
        clientCapabilities: server.getClientCapabilities() ?? {},
        ...(token === undefined ? {} : { progressToken: token }),
      };
      try {
        return await handler(request.params ?? {}, context);
      } catch (error) {
        const { code, message, data } = toRpcFailure(error, definition.onInternalError);
        const failure = new McpError(code, message, data);
        // The SDK also puts the code into the message; the code has its own member.
        failure.message = message;
        throw failure;
      }
    });
  }
  return server;
}

/** What a transport serves: one definition for the stateless revision, and SDK servers for the older ones. */
export interface ProtocolServer {
  readonly definition: ServerDefinition;
  /** A new SDK server, for one connection, session or request. */
  connect(): Server;
}

/** Serves a definition in both families of revisions. */
export function createProtocolServer(definition: ServerDefinition): ProtocolServer {
  return { definition, connect: () => buildSdkServer(definition) };
}
