/**
 * A function that remembers its results: the same addresses, names and keys come again and again. At most twice `most` are kept, and what
 * is asked for often stays.
 */
export function remember<Key, Value extends {}>(
  most: number,
  make: (key: Key) => Value,
): (key: Key) => Value {
  let recent = new Map<Key, Value>();
  let older = new Map<Key, Value>();
  return (key) => {
    const known = recent.get(key);
    if (known !== undefined) return known;
    const value = older.get(key) ?? make(key);
    if (recent.size >= most) {
      older = recent;
      recent = new Map();
    }
    recent.set(key, value);
    return value;
  };
}

/** The same for values of several kinds, of which there are few. */
export function rememberByKind<Value extends {}>(
  make: (kind: string, value: string) => Value,
): (kind: string, value: string) => Value {
  const kinds = new Map<string, (value: string) => Value>();
  return (kind, value) => {
    let of = kinds.get(kind);
    if (of === undefined) {
      of = remember(mostOfKind, (each) => make(kind, each));
      kinds.set(kind, of);
    }
    return of(value);
  };
}

const mostOfKind = 5000;
