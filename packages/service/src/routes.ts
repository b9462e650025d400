import type { Clock } from '@call-attribution/core';
import type { FeedRoutes } from './feeds/routes.ts';
import type { Admission } from './http/admission.ts';
import { apiRoutes, ownRoute } from './http/app.ts';
import { type AppRoute, jsonReply } from './http/context.ts';
import type { Try } from './http/passwords.ts';
import { type OpenApiOptions, openApiDocument } from './openapi/document.ts';
import type { ServiceSettings } from './options.ts';
import { pageRoutes } from './page/page-routes.ts';

/** What routes take from the service. */
interface RouteParts {
  readonly admission: Admission;
  readonly tryPassword: Try;
  readonly clock: Pick<Clock, 'now'>;
  readonly feeds: FeedRoutes;
}

/**
 * The paths of a service but for its health: those of the program that embeds it, feeds, the page,
 * the document and the API. Each says who may use it, whether it takes a place of its account, and
 * what it shows.
 */
export function serviceRoutes(options: ServiceSettings, parts: RouteParts): AppRoute[] {
  const { store, page, prefix, routes } = options;
  const { admission, clock, feeds } = parts;
  return [
    ...routes.map(ownRoute),
    ...feeds.routes,
    ...(page === false ? [] : pageRoutes(page, { ...parts, store })),
    openApiRoute({ ...options, serverUrl: `${prefix}/` }),
    ...apiRoutes({ store, clock }, admission, options),
  ];
}

/** Serves the document at `/openapi.json`. */
function openApiRoute(options: OpenApiOptions): AppRoute {
  let body: string | undefined;
  return {
    path: '/openapi.json',
    who: 'anyone',
    takesPlace: false,
    shows: 'nothing',
    async handle(c) {
      body ??= JSON.stringify(await openApiDocument(options));
      return jsonReply(c, body);
    },
  };
}
