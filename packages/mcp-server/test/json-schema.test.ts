import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { describe, expect, it } from 'vitest';
import { callTool, createServer, tools } from '../src/index.ts';
import { fakeClient } from './support/fake-client.ts';

const server = createServer(fakeClient([]));
const context = { signal: new AbortController().signal, notify: () => undefined, clientCapabilities: {} };
const list = async () =>
  (await server.definition.handlers['tools/list']?.({}, context)) as {
    tools: {
      name: string;
      inputSchema: Record<string, unknown>;
      outputSchema: Record<string, unknown>;
      annotations: Record<string, unknown>;
    }[];
  };

function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...keysOf(each),
  ]);
}

describe('tool definitions', () => {
  it('are the ones in the snapshot, in a fixed order', async () => {
    await expect(JSON.stringify(await list(), null, 2)).toMatchFileSnapshot('golden/tools-list.json');
  });

  it('are the same text in two listings of two servers', async () => {
    const other = createServer(fakeClient([])).definition.handlers['tools/list']?.({}, context);
    expect(JSON.stringify(await list())).toBe(JSON.stringify(await other));
  });

  it.each(tools.map((tool) => tool.name))('%s has schemas that every host accepts', async (name) => {
    const { inputSchema, outputSchema, annotations } = (await list()).tools.find(
      (tool) => tool.name === name,
    ) as never;
    for (const schema of [inputSchema, outputSchema] as Record<string, unknown>[]) {
      expect(schema.type).toBe('object');
      expect(keysOf(schema)).not.toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^(?:\$schema|\$ref|\$defs|definitions|anyOf|oneOf|allOf|not|format)$/),
        ]),
      );
      expect(() => new AjvJsonSchemaValidator().getValidator(schema)).not.toThrow();
    }
    expect((inputSchema as Record<string, unknown>).additionalProperties).toBe(false);
    expect(annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true });
  });

  it('take only flat scalars and lists of text', async () => {
    for (const { inputSchema } of (await list()).tools) {
      for (const property of Object.values(
        inputSchema.properties as Record<string, Record<string, unknown>>,
      )) {
        expect(['string', 'number', 'integer', 'boolean', 'array']).toContain(property.type);
        if (property.type === 'array') expect(property.items).toEqual({ type: 'string' });
      }
    }
  });

  it('name a tool that was mistyped', async () => {
    const result = await callTool(server, 'list_call');
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toContain('Did you mean list_calls?');
  });
});
