import protos from '@google-ads/datamanager/build/protos/protos.json' with { type: 'json' };

interface Field {
  readonly type: string;
  readonly rule?: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

interface Node {
  readonly nested?: Readonly<Record<string, Node>>;
  readonly fields?: Readonly<Record<string, Field>>;
  readonly oneofs?: Readonly<Record<string, { readonly oneof: readonly string[] }>>;
  readonly values?: Readonly<Record<string, number>>;
}

const path = ['google', 'ads', 'datamanager', 'v1'];
const schema = path.reduce<Node>(
  (node, name) => node.nested?.[name] as Node,
  protos as unknown as Node,
);

/**
 * What is wrong in a message by the schema that Google publishes: one line each, with the place.
 * Empty when it is right.
 */
export function violations(
  type: string,
  value: unknown,
  place = type,
  scope: Node = schema,
): string[] {
  const node = scope.nested?.[type] ?? schema.nested?.[type];
  if (node?.values)
    return Object.keys(node.values).includes(String(value)) ? [] : [`${place}: not a ${type}`];
  if (!node?.fields) return scalar(type, value) ? [] : [`${place}: not a ${type}`];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${place}: not an object`];
  const found: string[] = [];
  for (const [name, item] of Object.entries(value)) {
    const field = node.fields[name];
    const at = `${place}.${name}`;
    if (!field) found.push(`${at}: unknown`);
    else if (field.options?.deprecated) found.push(`${at}: deprecated`);
    else if (field.rule !== 'repeated') found.push(...violations(field.type, item, at, node));
    else if (!Array.isArray(item)) found.push(`${at}: not a list`);
    else
      found.push(
        ...item.flatMap((one, index) => violations(field.type, one, `${at}[${index}]`, node)),
      );
  }

  for (const [name, { options }] of Object.entries(node.fields)) {
    const isMissing = options?.['(google.api.field_behavior)'] === 'REQUIRED' && !(name in value);
    if (isMissing) found.push(`${place}.${name}: missing`);
  }

  for (const { oneof } of Object.values(node.oneofs ?? {}))
    if (oneof.filter((name) => name in value).length > 1)
      found.push(`${place}: more than one of ${oneof.join(', ')}`);

  return found;
}

function scalar(type: string, value: unknown): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'double':
    case 'int32':
      return typeof value === 'number' && Number.isFinite(value);
    case 'google.protobuf.Timestamp':
      return (
        typeof value === 'string' &&
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(value)
      );
    default:
      return false;
  }
}
