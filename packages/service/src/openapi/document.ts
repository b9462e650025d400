import type { ZodType } from 'zod';
import type { Shape, ShapeOptions } from '../defaults.ts';
import { apiProblems, type ProblemEntry } from '../http/refusal.ts';
import { shapeOf } from '../options.ts';

/** The shapes and limits of the service that the document describes. */
export interface OpenApiOptions extends Omit<ShapeOptions, 'rowsOver'> {
  /** URL of the service. Default `/`: the one the document was loaded from. */
  readonly serverUrl?: string | undefined;
}

/** A JSON Schema, or another part of the document. */
interface Schema {
  readonly [keyword: string]: unknown;
}

type Version = 'v2' | 'v3';

/**
 * The OpenAPI 3.1 document of the API, made from the schemas of the records and the given options.
 *
 * @example
 * writeFileSync('openapi.json', JSON.stringify(await openApiDocument({ maxRows: 500 })));
 */
export async function openApiDocument(
  options: OpenApiOptions = {},
): Promise<Record<string, unknown>> {
  const { serverUrl = '/' } = options;
  const shape = shapeOf(options);
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
    paths: {
      '/v3/user/bid-management': { get: list('v3', shape) },
      '/v3/user/bid-management/{sid}': { get: single('v3', shape) },
      '/v2/user/bid-management': { get: list('v2', shape) },
      '/v2/user/bid-management/count': { get: count() },
      '/v2/user/bid-management/{sid}': { get: single('v2', shape) },
      '/ibp_api.php': { get: smsNumbers(), post: postSmsNumbers() },
    },
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
          description:
            'Follows from the question and the changes of the account; for `If-None-Match`.',
          schema: text(),
        },
        CallsOnly: {
          description:
            'Only where the account was filled with a filter: which calls it has, as JSON in ASCII, a list of `{ filter, from, to }`; the filter is one of `q`, and times are null where a period is open. All counts and lists are of these calls.',
          schema: {
            type: 'string',
            examples: ['[{"filter":"talk_minutes:[5 TO *]","from":null,"to":null}]'],
          },
        },
      },
      responses: refusalResponses(),
      schemas: { ...(await recordSchemas()), ...replySchemas(shape) },
    },
  };
}

// JSON leaves out what is undefined.
const text = (description?: string): Schema => ({ type: 'string', description });
const from0: Schema = { type: 'integer', minimum: 0 };
const ref = (place: string): Schema => ({ $ref: `#/components/${place}` });
const json = (schema: Schema): Schema => ({ 'application/json': { schema } });
const listOf = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more });
const one: Schema = { minItems: 1, maxItems: 1 };
const callOf = (version: Version): Schema => ref(`schemas/Call${version.toUpperCase()}`);

/** An object with all of these, and some that may be absent. */
const object = (properties: Schema, optional: Schema = {}, description?: string): Schema => ({
  type: 'object',
  description,
  required: Object.keys(properties),
  properties: { ...properties, ...optional },
});

// v3 takes the two key headers or, for older users, a bearer token; v2 takes a bearer token only.
const security = {
  v2: [{ bearer: [] }],
  v3: [{ accessKey: [], secretKey: [] }, { bearer: [] }],
} as const;

function list(version: Version, { defaultRows, maxRows }: Shape): Schema {
  return {
    operationId: `listCalls${version.toUpperCase()}`,
    tags: [version],
    summary: `List calls (${version})`,
    description:
      version === 'v3'
        ? 'Calls ordered by `date_added`, then `sid`. Calls from call extensions are left out unless the filter has `inc_gce:1`.'
        : 'Calls of both channels, ordered by `date_added`, then `sid`.',
    security: security[version],
    parameters: [
      filterParameter(version),
      {
        name: 'rows',
        in: 'query',
        description: 'Calls on one page.',
        schema: { type: 'integer', minimum: 1, maximum: maxRows, default: defaultRows },
      },
      {
        name: 'start',
        in: 'query',
        description: 'Page number, counted from 0 in pages of `rows` calls.',
        schema: { ...from0, default: 0 },
      },
      {
        name: 'If-None-Match',
        in: 'header',
        description: 'The `ETag` of the page that the client has.',
        schema: text(),
      },
    ],
    responses: {
      '200': {
        description: 'One page. A page past the end is an empty array.',
        headers: {
          'Content-Range': ref('headers/ContentRange'),
          ETag: ref('headers/ETag'),
          'X-Calls-Only': ref('headers/CallsOnly'),
        },
        content: json(listOf(callOf(version))),
      },
      '304': {
        description: 'The client has this page: no call of the account has changed since.',
        headers: { ETag: ref('headers/ETag'), 'X-Calls-Only': ref('headers/CallsOnly') },
      },
      ...refusals(),
    },
  };
}

function single(version: Version, { singleAs }: Shape): Schema {
  const call = callOf(version);
  return {
    operationId: `getCall${version.toUpperCase()}`,
    tags: [version],
    summary: `Get one call (${version})`,
    security: security[version],
    parameters: [
      { name: 'sid', in: 'path', required: true, description: 'Id of the call.', schema: text() },
    ],
    responses: {
      '200': {
        description: 'The call.',
        content: json(singleAs === 'array' ? listOf(call, one) : call),
      },
      ...refusals(404),
    },
  };
}

function count(): Schema {
  return {
    operationId: 'countCallsV2',
    tags: ['v2'],
    summary: 'Count calls (v2)',
    security: security.v2,
    parameters: [filterParameter('v2')],
    responses: {
      '200': {
        description: 'The number of calls, also in the header.',
        headers: {
          'Content-Range': ref('headers/ContentRange'),
          'X-Calls-Only': ref('headers/CallsOnly'),
        },
        content: json(ref('schemas/Count')),
      },
      ...refusals(),
    },
  };
}

const smsContent: Schema = { 'text/xml': { schema: ref('schemas/SmsNumbers') } };

function smsNumbers(): Schema {
  return {
    operationId: 'listSmsNumbers',
    tags: ['sms'],
    summary: 'List the SMS-enabled numbers of the account',
    description: 'A failure also has status 200; its `result` is `failed`.',
    security: [{ legacyAccessKey: [], legacySecretKey: [] }],
    parameters: [
      {
        name: 'action',
        in: 'query',
        required: true,
        schema: { type: 'string', const: 'sms.get_numbers' },
      },
    ],
    responses: {
      '200': {
        description: 'The numbers, or what went wrong.',
        content: smsContent,
      },
      '429': {
        description: 'Too many requests; the document says so, too.',
        headers: { 'Retry-After': { schema: text() } },
        content: smsContent,
      },
      ...refusalsOf([405, 414, 500, 503]),
    },
  };
}

function postSmsNumbers(): Schema {
  const { parameters: _, ...get } = smsNumbers();
  return {
    ...get,
    operationId: 'postSmsNumbers',
    description:
      'The same with the keys in a form, so that they are in no URL. A failure also has status 200; its `result` is `failed`.',
    // The credentials are in the body.
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': {
          schema: object({
            action: { type: 'string', const: 'sms.get_numbers' },
            access_key: text(),
            secret_access_key: text(),
          }),
        },
      },
    },
  };
}

function filterParameter(version: Version): Schema {
  const example = 'date_added:[2026-10-01 00:00:00 TO 2026-11-01 00:00:00},talk_minutes:[1.5 TO *]';
  return {
    name: 'q',
    in: 'query',
    description:
      'Filter: `field:[lower TO upper]` clauses separated by commas, all of which must match. `[` and `]` include a bound, `{` and `}` exclude it, `*` leaves an end open. Fields: `date_added`, `talk_minutes`' +
      (version === 'v3' ? '; `inc_gce:1` includes calls from call extensions.' : '.'),
    schema: text(),
    examples: { october: { summary: 'The long calls of October', value: example } },
  };
}

/**
 * The schemas of a call record: every field is there, null when it is empty. zod is loaded with the
 * first document.
 */
async function recordSchemas(): Promise<Schema> {
  const [{ callV2Schema, callV3Schema }, { toJSONSchema }] = await Promise.all([
    import('@call-attribution/core/schemas'),
    import('zod'),
  ]);

  const record = (version: Version, given: ZodType): Schema => {
    const { $schema: _, ...schema } = toJSONSchema(given);
    const description = `One call in ${version}. Most numbers are strings, and times have no time zone.`;
    return { ...schema, description, additionalProperties: false };
  };

  return { CallV3: record('v3', callV3Schema), CallV2: record('v2', callV2Schema) };
}

/** The schemas of all response bodies other than call records. */
function replySchemas({ countAs }: Shape): Schema {
  const counts: Readonly<Record<Shape['countAs'], Schema>> = {
    object: object({ count: from0 }),
    number: from0,
    text: { type: 'string', pattern: '^\\d+$' },
    array: listOf(object({ count: from0 }), one),
    header: listOf({}, { maxItems: 0 }),
  };
  const integer = { type: 'integer' };
  return {
    Count: { ...counts[countAs], description: 'The number of calls that match the filter.' },
    SmsNumbers: {
      type: 'object',
      xml: { name: 'response' },
      properties: {
        result: text('Empty on success, `failed` on failure.'),
        result_description: { type: 'string', examples: ['[2] Number(s) Returned'] },
        data: { type: 'object', properties: { number: listOf(text('An SMS-enabled number.')) } },
      },
    },
    Problem: object(
      {
        title: text(),
        status: integer,
        code: text('Stable name of the reason; each response lists its own.'),
        detail: text('What happened and what to do.'),
      },
      {
        parameter: text('The query parameter or header that is wrong.'),
        pointer: ref('schemas/FilterPointer'),
        requestId: text(),
      },
      'Why a request was refused (RFC 9457).',
    ),
    FilterPointer: object(
      { code: text(), start: from0, end: from0 },
      {
        expected: listOf(text()),
        suggestions: listOf(text()),
        fix: object(
          { start: integer, end: integer, text: text() },
          {},
          'A fix: replace the characters from `start` to `end` with `text`.',
        ),
      },
      'The position in `q` that could not be parsed.',
    ),
  };
}

/** The error responses that operations share, by status, each with its codes and what they mean. */
function refusalResponses(): Schema {
  const lines = new Map<number, string[]>();
  for (const [code, [status, words]] of Object.entries<ProblemEntry>(apiProblems))
    lines.set(status, [...(lines.get(status) ?? []), `- \`${code}\`: ${words}`]);
  const headers: Readonly<Record<number, string>> = {
    405: 'Allow',
    429: 'Retry-After',
    503: 'Retry-After',
  };
  const responses = [...lines].map(([status, words]) => {
    const header = headers[status];
    const response = {
      description: words.join('\n'),
      headers: header && { [header]: { schema: text() } },
      content: { 'application/problem+json': { schema: ref('schemas/Problem') } },
    };
    return [`Refusal${status}`, response];
  });
  return Object.fromEntries(responses);
}

const refusals = (...more: readonly number[]): Schema =>
  refusalsOf([400, 401, 403, 405, 414, 429, 500, 503, ...more]);

/** References to the error responses of an operation. */
const refusalsOf = (statuses: readonly number[]): Schema =>
  Object.fromEntries(statuses.map((status) => [status, ref(`responses/Refusal${status}`)]));
