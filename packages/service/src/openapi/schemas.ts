import { apiProblems, type ProblemEntry } from '../http/refusal.ts';
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
        code: { type: 'string', description: 'Stable name of the reason; each response lists its own.' },
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

/** The statuses of the problems of the API, each with its codes and what they mean. */
const refusals = new Map<number, string[]>();
for (const [code, [status, words]] of Object.entries<ProblemEntry>(apiProblems))
  refusals.set(status, [...(refusals.get(status) ?? []), `- \`${code}\`: ${words}`]);

const headersOf: Readonly<Record<number, Schema>> = {
  405: { Allow: { schema: { type: 'string' } } },
  429: { 'Retry-After': { schema: { type: 'string' } } },
  503: { 'Retry-After': { schema: { type: 'string' } } },
};

/** The error responses that operations share, by status. */
export function refusalResponses(): Record<string, Schema> {
  return Object.fromEntries(
    [...refusals].map(([status, lines]) => [
      `Refusal${status}`,
      {
        description: lines.join('\n'),
        ...(headersOf[status] === undefined ? {} : { headers: headersOf[status] }),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

/** References to the error responses of an operation. */
export function refusalsFor(...statuses: readonly (typeof apiProblems)[keyof typeof apiProblems][0][]) {
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
