import { propertyOf } from '@call-attribution/core/errors';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  type JSONRPCRequest,
  LOG_LEVEL_META_KEY,
  type McpServerFactory,
  type Result,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { MethodHandler, RequestContext, ServerDefinition } from './definition.ts';
import { isObject, RpcError, rpcCodes, toRpcError } from './messages.ts';

/** What a transport serves. */
export interface ProtocolServer {
  readonly definition: ServerDefinition;
  /** Makes an SDK server for one connection, session or request. */
  readonly factory: McpServerFactory;
}

/** Serves a definition in both families of revisions. */
export function createProtocolServer(definition: ServerDefinition): ProtocolServer {
  return { definition, factory: ({ era }) => buildSdkServer(definition, era !== 'legacy') };
}

type Wrapped = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** The SDK prints what a schema found about a request. That becomes one sentence. */
const wrongForm = 'Invalid params: they do not have the form that the protocol names for this method.';

/**
 * The SDK's server, without what would be felt: its schemas refuse what hosts send instead of left-out arguments (null, a
 * string), its errors are dumps of schemas, and it renames the code of a missing resource of the older revisions.
 */
class PlainServer extends Server {
  /** The data of errors that keep the code of a missing resource. */
  readonly #missing = new WeakSet<object>();

  protected override _wrapHandler(method: string, handler: Wrapped): Wrapped {
    const run = method === 'tools/call' ? handler : super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await run(request, context);
      } catch (error) {
        if (!(error instanceof RpcError)) throw new RpcError(rpcCodes.invalidParams, wrongForm);
        if (error.code === rpcCodes.resourceNotFound && isObject(error.data)) this.#missing.add(error.data);
        throw error;
      }
    };
  }

  /** Called for the older revisions. */
  keepCodes(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(this.#withCode(message), options);
  }

  #withCode(message: JSONRPCMessage): JSONRPCMessage {
    if (!('error' in message) || !isObject(message.error.data) || !this.#missing.has(message.error.data))
      return message;
    return { ...message, error: { ...message.error, code: rpcCodes.resourceNotFound } };
  }
}

/** Handlers read what they are passed themselves. */
const anything = { params: z.looseObject({}) };

/** How long clients may cache a result: the definitions only change with a new version of this package. */
const ttlMs = 300_000;

const cacheable = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
];

/** Makes an SDK server over the handlers of a definition. */
export function buildSdkServer(definition: ServerDefinition, isStateless: boolean): Server {
  const { info, capabilities, instructions, handlers, privateResults } = definition;
  const server = new PlainServer(info, {
    capabilities,
    cacheHints: Object.fromEntries(
      cacheable.map((method) => [
        method,
        { ttlMs, cacheScope: privateResults?.includes(method) ? 'private' : 'public' },
      ]),
    ),
    ...(instructions === undefined ? {} : { instructions }),
  });
  for (const [method, handler] of Object.entries(handlers)) {
    server.setRequestHandler(method, anything, (params, context) =>
      handled(definition, handler, params, requestContext(server, context, isStateless)),
    );
  }
  if (!isStateless) {
    const connect = server.connect.bind(server);
    server.connect = async (transport) => {
      server.keepCodes(transport);
      await connect(transport);
    };
  }
  return server;
}

async function handled(
  definition: ServerDefinition,
  handler: MethodHandler,
  params: Record<string, unknown>,
  context: RequestContext,
): Promise<Record<string, unknown>> {
  try {
    return await handler(params, context);
  } catch (error) {
    throw toRpcError(error, definition.onInternalError);
  }
}

function requestContext(
  server: PlainServer,
  { mcpReq }: ServerContext,
  isStateless: boolean,
): RequestContext {
  const { envelope } = mcpReq;
  const declared = isStateless
    ? propertyOf(envelope, CLIENT_CAPABILITIES_META_KEY)
    : server.getClientCapabilities();
  const token = mcpReq._meta?.progressToken;
  const isQuiet = isStateless && propertyOf(envelope, LOG_LEVEL_META_KEY) === undefined;
  return {
    signal: mcpReq.signal,
    notify(method, params) {
      if (isQuiet && method === 'notifications/message') return;
      // A client that disconnects between two notifications must not fail the call.
      mcpReq.notify({ method, params }).catch(() => undefined);
    },
    clientCapabilities: isObject(declared) ? declared : {},
    ...(token === undefined ? {} : { progressToken: token }),
  };
}
