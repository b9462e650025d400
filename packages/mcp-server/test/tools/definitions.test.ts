import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { describe, expect, it } from 'vitest';
import { createServer, tools } from '../../src/index.ts';
import { estimateTokens } from '../../src/tools/table.ts';
import { fakeClient } from '../support/fake-client.ts';
import { request } from '../support/handlers.ts';

type Schema = Record<string, unknown>;

interface ToolList {
  readonly tools: readonly {
    readonly name: string;
    readonly inputSchema: Schema;
    readonly outputSchema: Schema;
    readonly annotations: Schema;
  }[];
}

const server = createServer(fakeClient([]));
const list = async () => (await request(server, 'tools/list')) as unknown as ToolList;

function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...keysOf(each),
  ]);
}

/** A schema as lines: one for each member, and one for the rest. */
const linesOf = (what: string, { properties, ...rest }: Schema): string[] => [
  `${what}: ${JSON.stringify(rest)}`,
  ...Object.entries(properties as Schema).map(
    ([key, value]) => `${what} ${key}: ${JSON.stringify(value)}`,
  ),
];

describe('tools/list', () => {
  it('returns the definitions of the snapshot, in a fixed order', async () => {
    const lines = (await list()).tools.flatMap(({ name, inputSchema, outputSchema, ...rest }) => [
      ...Object.entries(rest).map(([key, value]) => `${name} ${key}: ${JSON.stringify(value)}`),
      ...linesOf(`${name} takes`, inputSchema),
      ...linesOf(`${name} returns`, outputSchema),
    ]);
    await expect(lines.join('\n')).toMatchFileSnapshot('../golden/tools-list.txt');
  });

  it('takes at most 3,000 tokens', async () => {
    expect(estimateTokens(JSON.stringify(await list()))).toBeLessThanOrEqual(3000);
    const withFiles = createServer(fakeClient([]), { exportFolder: 'exports' });
    expect(
      estimateTokens(JSON.stringify(await request(withFiles, 'tools/list'))),
    ).toBeLessThanOrEqual(3000);
  });

  it('returns the same bytes from two servers', async () => {
    const other = await request(createServer(fakeClient([])), 'tools/list');
    expect(JSON.stringify(await list())).toBe(JSON.stringify(other));
  });

  it.each(tools.map((tool) => tool.name))(
    'gives %s schemas that every host accepts',
    async (name) => {
      const { inputSchema, outputSchema, annotations } = (await list()).tools.find(
        (tool) => tool.name === name,
      ) as ToolList['tools'][number];
      for (const schema of [inputSchema, outputSchema]) {
        expect(schema.type).toBe('object');
        expect(keysOf(schema)).not.toEqual(
          expect.arrayContaining([
            expect.stringMatching(
              /^(?:\$schema|\$ref|\$defs|definitions|anyOf|oneOf|allOf|not|format)$/,
            ),
          ]),
        );
        expect(() => new AjvJsonSchemaValidator().getValidator(schema)).not.toThrow();
      }

      expect(inputSchema.additionalProperties).toBe(false);
      expect(annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true });
    },
  );

  it('has only flat scalars and lists of strings as arguments', async () => {
    for (const { inputSchema } of (await list()).tools) {
      for (const property of Object.values(inputSchema.properties as Record<string, Schema>)) {
        expect(['string', 'number', 'integer', 'boolean', 'array']).toContain(property.type);
        if (property.type === 'array') expect(property.items).toEqual({ type: 'string' });
      }
    }
  });
});
