import type { ShapeOptions } from '../defaults.ts';
import { type AppRoute, jsonReply } from '../http/context.ts';
import { shapeOf } from '../options.ts';
import { paths } from './paths.ts';
import { recordSchema } from './record-schema.ts';
import { refusalResponses, replySchemas } from './schemas.ts';

/** The shapes and limits of the service that the document describes. */
export interface OpenApiOptions extends Omit<ShapeOptions, 'rowsOver'> {
  /** URL of the service. Default `/`: the one the document was loaded from. */
  readonly serverUrl?: string | undefined;
}

/**
 * The OpenAPI 3.1 document of the API, made from the field table and the given options.
 *
 * @example
 * writeFileSync('openapi.json', JSON.stringify(openApiDocument({ maxRows: 500 })));
 */
export function openApiDocument(options: OpenApiOptions = {}): { readonly [keyword: string]: unknown } {
  const { serverUrl = '/' } = options;
  const { singleAs, countAs, defaultRows, maxRows } = shapeOf(options);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Call Attribution API',
      version: '3',
      summary: 'Call records with the web visit that led to each call.',
      description:
        'Read-only. Lists call records page by page with a range filter, returns single records and counts (v2), and lists SMS-enabled numbers as XML. Records belong to the account whose credentials are sent.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    tags: [
      { name: 'v3', description: 'Call records, version 3.' },
      { name: 'v2', description: 'Call records, version 2.' },
      { name: 'sms', description: 'The SMS number listing, a separate older endpoint.' },
    ],
    paths: paths({ singleAs, countAs, defaultRows, maxRows }),
    components: {
      securitySchemes: {
        accessKey: { type: 'apiKey', in: 'header', name: 'access_key' },
        secretKey: { type: 'apiKey', in: 'header', name: 'secret_key' },
        bearer: { type: 'http', scheme: 'bearer' },
        legacyAccessKey: { type: 'apiKey', in: 'query', name: 'access_key' },
        legacySecretKey: { type: 'apiKey', in: 'query', name: 'secret_access_key' },
      },
      headers: {
        ContentRange: {
          description: 'Position of the page: `first-last/total`, or `*/total` for an empty one.',
          schema: { type: 'string', pattern: '^(\\d+-\\d+|\\*)/\\d+$', examples: ['3-4/18'] },
        },
        ETag: {
          description: 'Follows from the question and the changes of the account; for `If-None-Match`.',
          schema: { type: 'string' },
        },
      },
      responses: refusalResponses(),
      schemas: {
        CallV3: recordSchema('v3'),
        CallV2: recordSchema('v2'),
        ...replySchemas({ singleAs, countAs }),
      },
    },
  };
}

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
