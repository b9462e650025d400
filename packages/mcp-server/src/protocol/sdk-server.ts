import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { RequestContext, ServerDefinition } from './definition.ts';
import { internalErrorText, isObject, rpcCodes, toRpcFailure } from './messages.ts';
import { withTasks } from './tasks.ts';
import { inTurns } from './turns.ts';

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

/** Requests may ask for a task. A server without tasks is to ignore that, but the SDK's would fail. */
class TasklessServer extends Server {
  protected override assertTaskHandlerCapability(): void {}
}

/** Makes an SDK server over the handlers of a definition, for the revisions that begin with `initialize`. */
export function buildSdkServer(definition: ServerDefinition): Server {
  const server = new TasklessServer(definition.info, {
    capabilities: definition.capabilities,
    jsonSchemaValidator: noElicitation,
    ...(definition.instructions === undefined ? {} : { instructions: definition.instructions }),
  });
  // Not with `setRequestHandler`: the SDK's schemas refuse what hosts send instead of left-out arguments (null, a string),
  // and our handlers read what they are passed anyway.
  server.fallbackRequestHandler = async (request, extra) => {
    const { method } = request;
    const handler = Object.hasOwn(definition.handlers, method) ? definition.handlers[method] : undefined;
    if (!handler) throw failure(rpcCodes.methodNotFound, `Method not found: ${method.slice(0, 80)}`);
    const params = isObject(request.params) ? request.params : {};
    const token = isObject(params._meta) ? params._meta.progressToken : undefined;
    const context: RequestContext = {
      signal: extra.signal,
      notify(name, values) {
        // A client that disconnects between two notifications must not fail the call.
        extra.sendNotification({ method: name, params: values } as never).catch(() => undefined);
      },
      clientCapabilities: server.getClientCapabilities() ?? {},
      ...(typeof token === 'string' || typeof token === 'number' ? { progressToken: token } : {}),
    };
    try {
      return await handler(params, context);
    } catch (error) {
      const { code, message, data } = toRpcFailure(error, definition.onInternalError);
      throw failure(code, message, data);
    }
  };
  const connect = server.connect.bind(server);
  server.connect = (transport) => connect(withoutDumps(transport));
  return server;
}

function failure(code: number, message: string, data?: unknown): McpError {
  const error = new McpError(code, message, data);
  // The SDK also puts the code into the message; the code has its own member.
  error.message = message;
  return error;
}

/** The requests that the SDK handles itself it checks with schemas. What these print about a request becomes one sentence. */
function withoutDumps(transport: Transport): Transport {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(withoutDump(message), options);
  return transport;
}

function withoutDump(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || message.error.code !== rpcCodes.internalError) return message;
  if (message.error.message === internalErrorText) return message;
  const text = 'Invalid params: they do not have the form that the protocol names for this method.';
  return { ...message, error: { code: rpcCodes.invalidParams, message: text } };
}

/** What a transport serves: one definition for the stateless revision, and SDK servers for the older ones. */
export interface ProtocolServer {
  readonly definition: ServerDefinition;
  /** A new SDK server, for one connection, session or request. */
  connect(): Server;
}

/** Serves a definition in both families of revisions. */
export function createProtocolServer(given: ServerDefinition): ProtocolServer {
  const definition = { ...given, handlers: inTurns(given.handlers) };
  const handshake = withTasks(definition);
  return { definition, connect: () => buildSdkServer(handshake) };
}
