import { type AppRoute, jsonReply } from '../http/context.ts';
import { documentOf } from './document.ts';

/** Serves the document at `/openapi.json`. */
export function openApiRoute(options: Parameters<typeof documentOf>[0]): AppRoute {
  let body: string | undefined;
  return {
    path: '/openapi.json',
    handle(c) {
      body ??= JSON.stringify(documentOf(options));
      return jsonReply(c, body);
    },
  };
}
