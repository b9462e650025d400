import type { Schema } from './record-schema.ts';

/** The shapes in which this service counts and gives single records. */
export interface AnswerShapes {
  readonly singleAs: 'object' | 'array';
  readonly countAs: 'object' | 'number' | 'text' | 'array' | 'header';
}

const counts: Readonly<Record<AnswerShapes['countAs'], Schema>> = {
  object: counted(),
  number: { type: 'integer', minimum: 0 },
  text: { type: 'string', pattern: '^\\d+$' },
  array: { type: 'array', items: counted(), minItems: 1, maxItems: 1 },
  header: { type: 'array', maxItems: 0, items: {} },
};

/** The schemas of everything that is not a call record. */
export function answerSchemas({ countAs }: AnswerShapes): Record<string, Schema> {
  return {
    Count: { ...counts[countAs], description: 'How many calls the filter selects.' },
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
      description: 'Why a request was refused, after RFC 9457.',
      required: ['title', 'status', 'code', 'detail'],
      properties: {
        title: { type: 'string' },
        status: { type: 'integer' },
        code: { type: 'string', description: 'Stable name of the reason.' },
        detail: { type: 'string', description: 'What happened and what to do.' },
        parameter: { type: 'string', description: 'The query parameter or header at fault.' },
        pointer: { $ref: '#/components/schemas/FilterPointer' },
        requestId: { type: 'string' },
      },
    },
    FilterPointer: {
      type: 'object',
      description: 'The place in `q` that could not be read.',
      required: ['code', 'start', 'end'],
      properties: {
        code: { type: 'string' },
        start: { type: 'integer', minimum: 0 },
        end: { type: 'integer', minimum: 0 },
        expected: { type: 'array', items: { type: 'string' } },
        suggestions: { type: 'array', items: { type: 'string' } },
        fix: {
          type: 'object',
          description: 'A change that mends it: put `text` in place of the characters from `start` to `end`.',
          required: ['start', 'end', 'text'],
          properties: { start: { type: 'integer' }, end: { type: 'integer' }, text: { type: 'string' } },
        },
      },
    },
  };
}

const refusals = {
  '400': 'A parameter is malformed, out of range, unknown or given twice; the answer names it.',
  '401': 'The credentials are missing or open no account.',
  '403': 'The account is switched off.',
  '404': 'The account has no call with this id.',
  '405': 'The method is not GET or HEAD.',
  '414': 'The address is too long.',
  '429': 'Too many requests with this key; `Retry-After` tells when to come back.',
} as const;

/** The shared refusals, by status. */
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

/** References to the refusals that an operation can answer with. */
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
