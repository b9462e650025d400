import { serviceDefaults } from '../defaults.ts';
import { type AnswerShapes, answerSchemas, refusalResponses } from './answers.ts';
import { paths } from './paths.ts';
import { recordSchema, type Schema } from './record-schema.ts';

/** What the document says about one service. */
export interface OpenApiOptions extends Partial<AnswerShapes> {
  /** Rows of a page when the request names none. Default 100. */
  readonly defaultRows?: number;
  /** Most rows of one page. Default 1,000. */
  readonly maxRows?: number;
  /** Address of the service. Default `/`: where the document itself comes from. */
  readonly serverUrl?: string;
}

/** The OpenAPI 3.1 document of the API, made from the field table and from how this service is set up. */
export function openApiDocument(options: OpenApiOptions = {}): Schema {
  const {
    singleAs = serviceDefaults.singleAs,
    countAs = serviceDefaults.countAs,
    defaultRows = serviceDefaults.defaultRows,
    maxRows = serviceDefaults.maxRows,
    serverUrl = '/',
  } = options;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Call Attribution API',
      version: '3',
      summary: 'Call records with the web visit that led to each call.',
      description:
        'Read-only. Lists call records page by page with a range filter, gives single records and counts (v2), and lists SMS-enabled numbers as XML. Records are those of the account whose credentials are sent.',
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
          description: 'Place of the page: `first-last/total`, or `*/total` for an empty one.',
          schema: { type: 'string', pattern: '^(\\d+-\\d+|\\*)/\\d+$', examples: ['3-4/18'] },
        },
      },
      responses: refusalResponses(),
      schemas: {
        CallV3: recordSchema('v3'),
        CallV2: recordSchema('v2'),
        ...answerSchemas({ singleAs, countAs }),
      },
    },
  };
}
