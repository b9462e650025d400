// JSON-RPC requests of both families of revisions.

/** The stateless revision. */
export const revision = '2026-07-28';

/** The `_meta` of a request of the stateless revision. */
export const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A JSON-RPC request. */
export const rpc = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** The first request of the older revisions. */
export const initialize = (protocolVersion = '2025-11-25', id: unknown = 1) =>
  rpc(
    'initialize',
    { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    id,
  );
