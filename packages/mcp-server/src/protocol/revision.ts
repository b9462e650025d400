import { isObject } from './messages.ts';

/** The revision without sessions: each request carries its version and the client's capabilities. */
const statelessRevision = '2026-07-28';

/** Versions answered without an `initialize` handshake. */
export const statelessRevisions: readonly string[] = [statelessRevision];

/** Keys of `_meta` that the stateless revision gives a meaning. */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
} as const;

/**
 * Tells which family of revisions a message belongs to. A message is stateless when it says so in its
 * `_meta`, in its header, or by a method that only exists there.
 */
export function isStatelessMessage(message: unknown, versionHeader?: string): boolean {
  if (versionHeader !== undefined && versionHeader >= statelessRevision) return true;
  if (!isObject(message)) return false;
  if (message.method === 'server/discover' || message.method === 'subscriptions/listen') return true;
  const meta = isObject(message.params) ? message.params._meta : undefined;
  return isObject(meta) && meta[metaKeys.protocolVersion] !== undefined;
}
