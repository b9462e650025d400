/** A property of any value, such as the code of an error that someone else has thrown. Undefined where there is none. */
export function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
