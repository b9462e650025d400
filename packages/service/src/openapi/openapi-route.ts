import type { Route } from '../http/exchange.ts';
import { type OpenApiOptions, openApiDocument } from './document.ts';

/** The route of the OpenAPI document. */
export function openApiRoute(options: OpenApiOptions = {}): Route {
  const body = JSON.stringify(openApiDocument(options));
  const headers = { 'content-type': 'application/json' };
  return { path: '/openapi.json', handle: () => ({ status: 200, headers: { ...headers }, body }) };
}
