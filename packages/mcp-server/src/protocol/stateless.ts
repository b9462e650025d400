import type { MethodHandler, RequestContext, ServerDefinition } from './definition.ts';
import { isObject, RpcError, type RpcRequest, type RpcResponse, rpcCodes, toRpcFailure } from './messages.ts';

// The revision without sessions: each request carries its version and the client's capabilities.

const revision = '2026-07-28';

/** Versions that are served without an `initialize` handshake. */
const supportedVersions: readonly string[] = [revision];

/** Keys of `_meta` that the stateless revision defines. */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
} as const;

/** How long clients may cache a result: the definitions only change with a new version of this package. */
const cacheMs = 300_000;

const cacheable = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
]);

/**
 * Says which family of revisions a message belongs to. It is stateless when its `_meta` or its header says so, or
 * when its method only exists there.
 */
export function isStatelessMessage(message: unknown, versionHeader?: string): boolean {
  if (versionHeader !== undefined && versionHeader >= revision) return true;
  if (!isObject(message)) return false;
  if (message.method === 'server/discover' || message.method === 'subscriptions/listen') return true;
  const meta = isObject(message.params) ? message.params._meta : undefined;
  return isObject(meta) && meta[metaKeys.protocolVersion] !== undefined;
}

/** Checks the `_meta` that each request of the stateless revision must carry. */
export function checkMeta(request: RpcRequest): Record<string, unknown> {
  const meta = request.params?._meta;
  const version = isObject(meta) ? meta[metaKeys.protocolVersion] : undefined;
  if (!isObject(meta) || typeof version !== 'string' || !isObject(meta[metaKeys.clientCapabilities])) {
    throw new RpcError(
      rpcCodes.invalidParams,
      `Invalid params: params._meta must have "${metaKeys.protocolVersion}" (a string) and "${metaKeys.clientCapabilities}" (an object).`,
    );
  }
  return meta;
}

/** Refuses a version that this server does not support without a handshake, and names those it does. */
export function checkVersion(meta: Record<string, unknown>): void {
  const requested = String(meta[metaKeys.protocolVersion]);
  if (!supportedVersions.includes(requested)) {
    throw new RpcError(rpcCodes.unsupportedVersion, 'Unsupported protocol version', {
      supported: supportedVersions,
      requested,
    });
  }
}

/** The handler of a method. Methods of the handshake revisions do not exist here. */
export function findHandler(definition: ServerDefinition, method: string): MethodHandler {
  if (method === 'server/discover') return async () => discover(definition);
  const handler = Object.hasOwn(definition.handlers, method) ? definition.handlers[method] : undefined;
  if (!handler) throw new RpcError(rpcCodes.methodNotFound, `Method not found: ${method.slice(0, 80)}`);
  return handler;
}

function discover(definition: ServerDefinition): Record<string, unknown> {
  return {
    supportedVersions,
    capabilities: definition.capabilities,
    ...(definition.instructions === undefined ? {} : { instructions: definition.instructions }),
  };
}

/**
 * Handles one request of the stateless revision with the same handlers that the SDK's server uses for older
 * revisions. The caller has checked whatever its transport adds (HTTP: the headers).
 */
export async function handleStateless(
  definition: ServerDefinition,
  request: RpcRequest,
  context: Pick<RequestContext, 'signal' | 'notify'>,
): Promise<RpcResponse> {
  try {
    const meta = checkMeta(request);
    checkVersion(meta);
    const handler = findHandler(definition, request.method);
    const result = await handler(request.params ?? {}, requestContext(meta, context));
    return { jsonrpc: '2.0', id: request.id, result: stamp(definition, request.method, result) };
  } catch (error) {
    const failure = toRpcFailure(error, definition.onInternalError);
    const code = failure.code === rpcCodes.resourceNotFound ? rpcCodes.invalidParams : failure.code;
    return { jsonrpc: '2.0', id: request.id, error: { ...failure, code } };
  }
}

function requestContext(
  meta: Record<string, unknown>,
  base: Pick<RequestContext, 'signal' | 'notify'>,
): RequestContext {
  const token = meta.progressToken;
  const capabilities = meta[metaKeys.clientCapabilities];
  const wantsLogs = meta[metaKeys.logLevel] !== undefined;
  return {
    signal: base.signal,
    notify(method, params) {
      if (method === 'notifications/message' && !wantsLogs) return;
      base.notify(method, params);
    },
    clientCapabilities: isObject(capabilities) ? capabilities : {},
    ...(typeof token === 'string' || typeof token === 'number' ? { progressToken: token } : {}),
  };
}

/** Adds what every result of the stateless revision says about itself. */
function stamp(definition: ServerDefinition, method: string, result: Record<string, unknown>) {
  const meta = isObject(result._meta) ? result._meta : {};
  const cacheScope = definition.privateResults?.includes(method) ? 'private' : 'public';
  return {
    resultType: 'complete',
    ...result,
    ...(cacheable.has(method) && result.resultType === undefined ? { ttlMs: cacheMs, cacheScope } : {}),
    _meta: { ...meta, [metaKeys.serverInfo]: definition.info },
  };
}
