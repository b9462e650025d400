import type { HttpAuth } from './options.ts';

const wellKnown = '/.well-known/oauth-protected-resource';

/** True for the paths at which clients look for the metadata of an endpoint. */
export function isMetadataPath(pathname: string, endpoint: string): boolean {
  return pathname === wellKnown || pathname === `${wellKnown}${endpoint}`;
}

/** The protected-resource document of RFC 9728. */
export function resourceMetadata(metadata: NonNullable<HttpAuth['metadata']>): Record<string, unknown> {
  return {
    resource: metadata.resource,
    authorization_servers: metadata.authorizationServers,
    bearer_methods_supported: ['header'],
    ...(metadata.scopes === undefined ? {} : { scopes_supported: metadata.scopes }),
  };
}

/** The `WWW-Authenticate` header of a 401, which points to the metadata when there is any. */
export function challenge(auth: HttpAuth | undefined, endpoint: string): string {
  if (!auth?.metadata) return 'Bearer realm="call-attribution"';
  const url = new URL(`${wellKnown}${endpoint}`, auth.metadata.resource);
  return `Bearer realm="call-attribution", resource_metadata="${url.href}"`;
}
