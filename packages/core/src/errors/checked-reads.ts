// Reads of what the compiler cannot know, each with the check in place of a promise.

/**
 * A property of any value, such as the code of an error that someone else has thrown. Undefined
 * where there is none.
 */
export function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/**
 * An item that must be there. Throws when it is not. Hot loops over bytes and numbers read by
 * themselves.
 */
export function itemAt<T>(list: ArrayLike<T>, index: number): T {
  const item = list[index];
  if (item === undefined)
    throw new RangeError(`There is no item ${index} in a list of ${list.length}.`);
  return item;
}

/** The port that a server listens on. Throws when it does not listen on one. */
export function portOf(server: { address(): string | { readonly port: number } | null }): number {
  const address = server.address();
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error('The server does not listen on a port.');
}
