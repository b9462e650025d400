import type { Schema } from './record-schema.ts';

/** The shapes of single records and counts. */
export interface ReplyShapes {
  /** The shape of a single record. Default `object`. */
  readonly singleAs: 'object' | 'array';
  /** The shape of the v2 count. Default `object`. */
  readonly countAs: 'object' | 'number' | 'text' | 'array' | 'header';
}

const counts: Readonly<Record<ReplyShapes['countAs'], Schema>> = {
  object: counted(),
  number: { type: 'integer', minimum: 0 },
  text: { type: 'string', pattern: '^\\d+$' },
  array: { type: 'array', items: counted(), minItems: 1, maxItems: 1 },
  header: { type: 'array', maxItems: 0, items: {} },
};

/** The schemas of all response bodies other than call records. */
export function replySchemas({ countAs }: ReplyShapes): Record<string, Schema> {
  return {
    Count: { ...counts[countAs], description: 'The number of calls that match the filter.' },
    SmsNumbers: {
      type: 'object',
      xml: { name: 'response' },
      properties: {
        result: { type: 'string', description: 'Empty on success, `failed` on failure.' },
        result_description: { type: 'string', examples: ['[2] Number(s) Returned'] },
        data: {
          type: 'object',
          properties: {
            number: { type: 'array', items: { type: 'string', description: 'An SMS-enabled number.' } },
          },
        },
      },
    },
    Problem: {
      type: 'object',
      description: 'Why a request was refused (RFC 9457).',
      required: ['title', 'status', 'code', 'detail'],
      properties: {
        title: { type: 'string' },
        status: { type: 'integer' },
        code: { type: 'string', description: 'Stable name of the reason.' },
        detail: { type: 'string', description: 'What happened and what to do.' },
        parameter: { type: 'string', description: 'The query parameter or header that is wrong.' },
        pointer: { $ref: '#/components/schemas/FilterPointer' },
        requestId: { type: 'string' },
      },
    },
    FilterPointer: {
      type: 'object',
      description: 'The position in `q` that could not be parsed.',
      required: ['code', 'start', 'end'],
      properties: {
        code: { type: 'string' },
        start: { type: 'integer', minimum: 0 },
        end: { type: 'integer', minimum: 0 },
        expected: { type: 'array', items: { type: 'string' } },
        suggestions: { type: 'array', items: { type: 'string' } },
        fix: {
          type: 'object',
          description: 'A fix: replace the characters from `start` to `end` with `text`.',
          required: ['start', 'end', 'text'],
          properties: { start: { type: 'integer' }, end: { type: 'integer' }, text: { type: 'string' } },
        },
      },
    },
  };
}

const refusals = {
  '400': 'A parameter is malformed, out of range, unknown or repeated; the response names it.',
  '401': 'The credentials are missing or do not belong to an account.',
  '403': 'The account is disabled.',
  '404': 'The account does not have a call with this id.',
  '405': 'The method is not GET or HEAD.',
  '414': 'The URL is too long.',
  '429': 'Too many requests with this key; `Retry-After` says when to try again.',
} as const;

/** The error responses that operations share, by status. */
export function refusalResponses(): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(refusals).map(([status, description]) => [
      `Refusal${status}`,
      {
        description,
        ...(status === '429' ? { headers: { 'Retry-After': { schema: { type: 'string' } } } } : {}),
        ...(status === '405' ? { headers: { Allow: { schema: { type: 'string' } } } } : {}),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

/** References to the error responses of an operation. */
export function refusalsFor(...statuses: readonly (keyof typeof refusals)[]): Record<string, Schema> {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/Refusal${status}` }]),
  );
}

function counted(): Schema {
  return {
    type: 'object',
    required: ['count'],
    properties: { count: { type: 'integer', minimum: 0 } },
  };
}
