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
import { toRpcError } from './errors.ts';

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

// The SDK would build a JSON Schema compiler for each server, only to check elicitation answers.
// This server asks its user nothing, so it goes without.
const noElicitation = {
  getValidator() {
    return () => ({
      valid: false as const,
      data: undefined,
      errorMessage: 'This server does not elicit input.',
    });
  },
};

/** One SDK server over the handlers of a definition, for the revisions that begin with `initialize`. */
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
          // A client that went away between two notifications is no reason to fail the call.
          extra.sendNotification({ method, params } as never).catch(() => undefined);
        },
        clientCapabilities: server.getClientCapabilities() ?? {},
        ...(token === undefined ? {} : { progressToken: token }),
      };
      try {
        return await handler(request.params ?? {}, context);
      } catch (error) {
        const { code, message, data } = toRpcError(error, definition.onInternalError);
        const failure = new McpError(code, message, data);
        // The SDK puts the code into the text as well; the code has its own member.
        failure.message = message;
        throw failure;
      }
    });
  }
  return server;
}
