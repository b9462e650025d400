/** A JSON Schema, read loosely. */
export type Schema = { [keyword: string]: Schema } & { readonly [keyword: string]: unknown };

/** Where a value does not match a schema. It supports what the OpenAPI document of the service uses for records. */
export function schemaProblems(schema: Schema, value: unknown, place: string): string[] {
  const types = ([] as unknown[]).concat(schema.type ?? []);
  let type: string = Number.isInteger(value) ? 'integer' : typeof value;
  if (value === null) type = 'null';
  const problems: string[] = [];
  if (!types.includes(type)) problems.push(`${place}: ${type} is not ${types.join(' or ')}`);
  if (typeof value === 'string' && schema.pattern && !new RegExp(String(schema.pattern)).test(value)) {
    problems.push(`${place}: "${value}" does not match ${schema.pattern}`);
  }
  if (Array.isArray(schema.enum) && !schema.enum.includes(value))
    problems.push(`${place}: ${value} is not in the enum`);
  if (type === 'object') {
    const own = Object.keys(value as object);
    for (const name of schema.required as unknown as string[])
      if (!own.includes(name)) problems.push(`${place}: no ${name}`);
    for (const name of own) {
      const inner = schema.properties?.[name];
      if (inner)
        problems.push(...schemaProblems(inner, (value as Record<string, unknown>)[name], `${place}.${name}`));
      else problems.push(`${place}: ${name} is unknown`);
    }
  }
  return problems;
}
