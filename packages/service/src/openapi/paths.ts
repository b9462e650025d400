import type { Schema } from './record-schema.ts';
import { type ReplyShapes, refusalsFor } from './schemas.ts';

type Version = 'v2' | 'v3';

/** What the paths depend on. */
export interface PathOptions extends ReplyShapes {
  readonly defaultRows: number;
  readonly maxRows: number;
}

const names = { v2: 'CallV2', v3: 'CallV3' } as const;
const everywhere = [400, 401, 403, 405, 414, 429, 500, 503] as const;

// v3 takes the two key headers or, for older users, a bearer token; v2 takes a bearer token only.
const security = {
  v2: [{ bearer: [] }],
  v3: [{ accessKey: [], secretKey: [] }, { bearer: [] }],
} as const;

/** All paths of the API. */
export function paths(options: PathOptions): Record<string, Schema> {
  return {
    '/v3/user/bid-management': { get: list('v3', options) },
    '/v3/user/bid-management/{sid}': { get: single('v3', options) },
    '/v2/user/bid-management': { get: list('v2', options) },
    '/v2/user/bid-management/count': { get: count() },
    '/v2/user/bid-management/{sid}': { get: single('v2', options) },
    '/ibp_api.php': { get: smsNumbers() },
  };
}

function list(version: Version, { defaultRows, maxRows }: PathOptions): Schema {
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
        schema: { type: 'integer', minimum: 0, default: 0 },
      },
      {
        name: 'If-None-Match',
        in: 'header',
        description: 'The `ETag` of the page that the client has.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      '200': {
        description: 'One page. A page past the end is an empty array.',
        headers: {
          'Content-Range': { $ref: '#/components/headers/ContentRange' },
          ETag: { $ref: '#/components/headers/ETag' },
        },
        content: json({ type: 'array', items: { $ref: `#/components/schemas/${names[version]}` } }),
      },
      '304': {
        description: 'The client has this page: no call of the account has changed since.',
        headers: { ETag: { $ref: '#/components/headers/ETag' } },
      },
      ...refusalsFor(...everywhere),
    },
  };
}

function single(version: Version, { singleAs }: PathOptions): Schema {
  const schema = { $ref: `#/components/schemas/${names[version]}` };
  return {
    operationId: `getCall${version.toUpperCase()}`,
    tags: [version],
    summary: `Get one call (${version})`,
    security: security[version],
    parameters: [
      { name: 'sid', in: 'path', required: true, description: 'Id of the call.', schema: { type: 'string' } },
    ],
    responses: {
      '200': {
        description: 'The call.',
        content: json(
          singleAs === 'array' ? { type: 'array', items: schema, minItems: 1, maxItems: 1 } : schema,
        ),
      },
      ...refusalsFor(...everywhere, 404),
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
        headers: { 'Content-Range': { $ref: '#/components/headers/ContentRange' } },
        content: json({ $ref: '#/components/schemas/Count' }),
      },
      ...refusalsFor(...everywhere),
    },
  };
}

function smsNumbers(): Schema {
  return {
    operationId: 'listSmsNumbers',
    tags: ['sms'],
    summary: 'List the SMS-enabled numbers of the account',
    description: 'A failure also has status 200; its `result` is `failed`.',
    security: [{ legacyAccessKey: [], legacySecretKey: [] }],
    parameters: [
      { name: 'action', in: 'query', required: true, schema: { type: 'string', const: 'sms.get_numbers' } },
    ],
    responses: {
      '200': {
        description: 'The numbers, or what went wrong.',
        content: { 'application/xml': { schema: { $ref: '#/components/schemas/SmsNumbers' } } },
      },
      ...refusalsFor(405, 414, 500, 503),
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
    schema: { type: 'string' },
    examples: { october: { summary: 'The long calls of October', value: example } },
  };
}

function json(schema: Schema): Schema {
  return { 'application/json': { schema } };
}
