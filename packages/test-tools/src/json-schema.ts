/** A JSON Schema, read loosely. */
export type Schema = { [keyword: string]: Schema } & { readonly [keyword: string]: unknown };

/**
 * Where a value does not match a schema. It supports what the OpenAPI document of the service uses
 * for records.
 */
export function schemaProblems(schema: Schema, value: unknown, place: string): string[] {
  const anyOf = schema.anyOf as unknown as Schema[] | undefined;
  const byLength = (a: readonly unknown[], b: readonly unknown[]) => a.length - b.length;
  if (anyOf)
    return anyOf.map((one) => schemaProblems(one, value, place)).sort(byLength)[0] as string[];
  const types = ([] as unknown[]).concat(schema.type);
  let type: string = Number.isInteger(value) ? 'integer' : typeof value;
  if (value === null) type = 'null';
  const problems = types.includes(type) ? [] : [`${place}: ${type} is not ${types.join(' or ')}`];
  if (schema.pattern && !new RegExp(String(schema.pattern)).test(String(value)))
    problems.push(`${place}: "${value}" does not match ${schema.pattern}`);
  if (Array.isArray(schema.enum) && !schema.enum.includes(value))
    problems.push(`${place}: ${value} is not in the enum`);
  if (type === 'object') {
    const required = schema.required as unknown as string[];
    const missing = required.filter((name) => !Object.hasOwn(value as object, name));
    problems.push(...missing.map((name) => `${place}: no ${name}`));
    for (const [name, inner] of Object.entries(value as object)) {
      const own = schema.properties?.[name];
      if (own) problems.push(...schemaProblems(own, inner, `${place}.${name}`));
      else problems.push(`${place}: ${name} is unknown`);
    }
  }

  return problems;
}
