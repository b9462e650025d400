import type { MethodHandler, RequestContext, ServerDefinition } from './definition.ts';
import { RpcError, rpcCodes, toRpcError } from './errors.ts';
import { isObject, type RpcRequest, type RpcResponse } from './messages.ts';
import { metaKeys, statelessRevisions } from './revision.ts';

/** How long clients may keep a cacheable result: the definitions only change with a new version. */
const cacheMs = 300_000;

const cacheable = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
]);

/** Checks the `_meta` that each request of the stateless revision must carry. */
export function checkMeta(request: RpcRequest): Record<string, unknown> {
  const meta = request.params?._meta;
  const version = isObject(meta) ? meta[metaKeys.protocolVersion] : undefined;
  if (!isObject(meta) || typeof version !== 'string' || !isObject(meta[metaKeys.clientCapabilities])) {
    throw new RpcError(
      rpcCodes.invalidParams,
      `Invalid params: params._meta must carry "${metaKeys.protocolVersion}" (text) and "${metaKeys.clientCapabilities}" (object).`,
    );
  }
  return meta;
}

/** Refuses a version that this server does not speak without a handshake, and names those it does. */
export function checkVersion(meta: Record<string, unknown>): void {
  const requested = String(meta[metaKeys.protocolVersion]);
  if (!statelessRevisions.includes(requested)) {
    throw new RpcError(rpcCodes.unsupportedVersion, 'Unsupported protocol version', {
      supported: statelessRevisions,
      requested,
    });
  }
}

/** The handler of a method, or a method-not-found error. Methods of the handshake era do not exist here. */
export function findHandler(definition: ServerDefinition, method: string): MethodHandler {
  if (method === 'server/discover') return async () => discover(definition);
  const handler = Object.hasOwn(definition.handlers, method) ? definition.handlers[method] : undefined;
  if (!handler) throw new RpcError(rpcCodes.methodNotFound, `Method not found: ${method.slice(0, 80)}`);
  return handler;
}

function discover(definition: ServerDefinition): Record<string, unknown> {
  return {
    supportedVersions: statelessRevisions,
    capabilities: definition.capabilities,
    ...(definition.instructions === undefined ? {} : { instructions: definition.instructions }),
  };
}

/**
 * Answers one request of the stateless revision over the same handlers that the SDK's server answers
 * older revisions with. The caller has checked whatever its transport adds (HTTP: the headers).
 */
export async function answerStateless(
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
    const answer = toRpcError(error, definition.onInternalError);
    const code = answer.code === rpcCodes.resourceNotFound ? rpcCodes.invalidParams : answer.code;
    return { jsonrpc: '2.0', id: request.id, error: { ...answer, code } };
  }
}

function requestContext(
  meta: Record<string, unknown>,
  base: Pick<RequestContext, 'signal' | 'notify'>,
): RequestContext {
  const token = meta.progressToken;
  const wantsLogs = meta[metaKeys.logLevel] !== undefined;
  return {
    signal: base.signal,
    notify(method, params) {
      if (method === 'notifications/message' && !wantsLogs) return;
      base.notify(method, params);
    },
    clientCapabilities: meta[metaKeys.clientCapabilities] as Record<string, unknown>,
    ...(typeof token === 'string' || typeof token === 'number' ? { progressToken: token } : {}),
  };
}

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
