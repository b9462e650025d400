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

const server = createServer(fakeClient([]), { exportFolder: 'exports' });
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

  // Tokenizers differ: of o200k today's tools are some 2,300, by the estimate 2,900. One more of
  // them has room.
  it('takes at most 3,200 tokens, by an estimate on the high side', async () => {
    expect(estimateTokens(JSON.stringify(await list()))).toBeLessThanOrEqual(3200);
  });

  it('returns the same bytes from two servers', async () => {
    const same = createServer(fakeClient([]), { exportFolder: 'exports' });
    const other = await request(same, 'tools/list');
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
      const readOnlyHint = name !== 'save_csv';
      expect(annotations).toMatchObject({ readOnlyHint, openWorldHint: true });
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
