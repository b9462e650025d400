import { type AppRoute, jsonReply } from '../http/context.ts';
import { type OpenApiOptions, openApiDocument } from './document.ts';

/** Serves the document at `/openapi.json`. */
export function openApiRoute(options: OpenApiOptions): AppRoute {
  let body: string | undefined;
  return {
    path: '/openapi.json',
    handle(c) {
      body ??= JSON.stringify(openApiDocument(options));
      return jsonReply(c, body);
    },
  };
}
